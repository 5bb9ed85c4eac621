// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <vector>

namespace lanescope {

/// Memory for data that grows with a trace. Large blocks are on the heap up to `ownBytes` in all. Further ones are in a
/// nameless file mapped into memory: page cache that the kernel writes back and drops under pressure. Disk space is
/// reserved in advance. If there is none, or no file can be made, all blocks are on the heap. Any thread.
class LargeMemory {
  public:
    static constexpr size_t defaultOwnBytes = size_t{512} << 20;
    /// Smaller blocks are always on the heap.
    static constexpr size_t minLargeBytes = size_t{1} << 15;

    /// The file is created in `folder` on first use, by default in a folder of `TemporaryFile`.
    /// Blocks beyond `ownBytes` go there.
    explicit LargeMemory(std::filesystem::path folder = {}, size_t ownBytes = defaultOwnBytes);
    ~LargeMemory();
    LargeMemory& operator=(LargeMemory&&) = delete;

    /// Returns memory aligned for any type. Throws `std::bad_alloc` as `new` does.
    void* allocate(size_t bytes);
    /// `bytes` is the allocated size.
    void release(void* block, size_t bytes) noexcept;
    /// Resizes a block as `realloc` does; null has the length 0. Blocks in the file usually grow without a copy.
    /// Growing blocks are expected to be long-lived, so they use at most half of `ownBytes`. Throws `std::bad_alloc`.
    void* resize(void* block, size_t oldBytes, size_t bytes);

    size_t ownBytes() const;
    size_t fileBytes() const;

  private:
    class File;

    void* allocateWithin(size_t maxOwnBytes, size_t bytes);
    void* allocateInFile(size_t bytes);
    bool isInFile(const void* block) const;

    const std::filesystem::path folder_;
    const size_t maxOwnBytes_;
    mutable std::mutex mutex_;
    // Guarded by the mutex:
    size_t ownBytes_ = 0;
    std::unique_ptr<File> file_;
    bool isFileRefused_ = false;
};

/// Calls `LargeMemory::resize`, or `realloc` if `memory` is null.
void* resizeBlock(LargeMemory* memory, void* block, size_t oldBytes, size_t bytes);
/// Calls `LargeMemory::release`, or `free` if `memory` is null.
void releaseBlock(LargeMemory* memory, void* block, size_t bytes) noexcept;

/// Allocator in a `LargeMemory`, or in the heap if there is none. Copies, moves and assignments of a container keep it.
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

/// Vector that may grow with a trace. Constructed with a `LargeMemory*`, which must outlive it, it is stored there.
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

/// Sorts a `LargeVector` with temporary memory in the same `LargeMemory`, in short steps, so that it can be stopped;
/// then the order is undefined. Stable. O(n log n), O(n) for intervals that are in order already.
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
        if (!std::is_sorted(at(values, first), end, isLess)) std::stable_sort(at(values, first), end, isLess);
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
