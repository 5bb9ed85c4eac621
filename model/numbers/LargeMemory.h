// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stop_token>
#include <type_traits>
#include <vector>

namespace lanescope {

/// Memory for what grows with a trace. Large blocks are the process's own until they come to
/// `ownBytes` together; what is asked for beyond lies in a file without a name, mapped into memory:
/// page cache that the kernel writes back and drops when others need it. The room on the disk is
/// reserved beforehand; where there is none, or no file can be made, blocks are the process's own,
/// however many. Any thread.
class LargeMemory {
  public:
    static constexpr size_t usualOwnBytes = size_t{512} << 20;
    /// Shorter blocks are always the process's own.
    static constexpr size_t leastBytes = size_t{1} << 15;

    /// The file is made in `folder` when it is first needed, in one for temporary files without one
    /// (`TemporaryFile`). What is too much for `ownBytes` goes there.
    explicit LargeMemory(std::filesystem::path folder = {}, size_t ownBytes = usualOwnBytes);
    ~LargeMemory();
    LargeMemory(const LargeMemory&) = delete;
    LargeMemory& operator=(const LargeMemory&) = delete;

    /// Aligned for any type. Throws `std::bad_alloc` as `new` does.
    void* allocate(size_t bytes);
    /// `bytes` as they were asked for.
    void release(void* block, size_t bytes) noexcept;
    /// The block with another length, as `realloc`: the shorter of both stays as it was. Null has
    /// the length 0. Does not copy what grows in the file, mostly. What grows this way is there to
    /// stay, and leaves half of `ownBytes` to what is not. Throws `std::bad_alloc`.
    void* resize(void* block, size_t oldBytes, size_t bytes);

    /// Bytes of large blocks that are the process's own.
    size_t ownBytes() const;
    /// Bytes of blocks in the file.
    size_t fileBytes() const;

  private:
    class File;

    void* allocateWithin(size_t mostOwnBytes, size_t bytes);
    void* allocateInFile(size_t bytes);
    bool isInFile(const void* block) const;

    const std::filesystem::path folder_;
    const size_t mostOwnBytes_;
    mutable std::mutex mutex_;
    // Guarded by the mutex:
    size_t ownBytes_ = 0;
    std::unique_ptr<File> file_;
    bool isFileRefused_ = false;
};

/// `LargeMemory::resize`, or `realloc` without one.
void* resizeBlock(LargeMemory* memory, void* block, size_t oldBytes, size_t bytes);
/// `LargeMemory::release`, or `free` without one.
void releaseBlock(LargeMemory* memory, void* block, size_t bytes) noexcept;

/// Lets a container lie in a `LargeMemory`, or where `new` takes it from if there is none. It goes
/// with what it is the memory of: who is copied, moved or assigned takes it along.
template <class T>
class LargeAllocator {
  public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::false_type;

    LargeAllocator(LargeMemory* memory = nullptr) noexcept : memory_(memory) {}
    template <class Other>
    LargeAllocator(const LargeAllocator<Other>& other) noexcept : memory_(other.memory()) {}

    T* allocate(size_t count) {
        if (memory_ == nullptr) return std::allocator<T>().allocate(count);
        if (count > static_cast<size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(memory_->allocate(count * sizeof(T)));
    }
    void deallocate(T* block, size_t count) noexcept {
        if (memory_ == nullptr)
            std::allocator<T>().deallocate(block, count);
        else
            memory_->release(block, count * sizeof(T));
    }
    LargeMemory* memory() const { return memory_; }

    template <class Other>
    bool operator==(const LargeAllocator<Other>& other) const {
        return memory_ == other.memory();
    }

  private:
    static_assert(alignof(T) <= alignof(std::max_align_t));
    LargeMemory* memory_;
};

/// A vector that may grow with a trace. Made of a `LargeMemory*`, which must outlive it, it lies
/// there.
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

/// Sorts a `LargeVector` with no memory but what lies where it lies, in steps that do not take long
/// each, so that it can be stopped; then the order means nothing. Stable. O(n log n), but O(n) for
/// stretches that are in order already.
template <class Vector, class Less>
void sortLarge(Vector& values, Less isLess, const std::stop_token& stop = {}) {
    constexpr size_t valuesAtOnce = size_t{1} << 16;
    const size_t count = values.size();
    const auto at = [count](Vector& of, size_t index) {
        return of.begin() + static_cast<std::ptrdiff_t>(std::min(index, count));
    };
    for (size_t first = 0; first < count; first += valuesAtOnce) {
        if (stop.stop_requested()) return;
        const auto end = at(values, first + valuesAtOnce);
        if (!std::is_sorted(at(values, first), end, isLess))
            std::stable_sort(at(values, first), end, isLess);
    }
    Vector merged(values.get_allocator());
    if (count > valuesAtOnce) merged.resize(count);
    for (size_t width = valuesAtOnce; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            if (stop.stop_requested()) return;
            const auto middle = at(values, first + width);
            const auto end = at(values, first + 2 * width);
            if (middle == end || !isLess(*middle, *(middle - 1)))
                std::copy(at(values, first), end, at(merged, first));
            else
                std::merge(at(values, first), middle, middle, end, at(merged, first), isLess);
        }
        values.swap(merged);
    }
}

}  // namespace lanescope
