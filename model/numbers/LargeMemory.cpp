// SPDX-License-Identifier: Apache-2.0
#include "model/numbers/LargeMemory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "model/format/OutputFile.h"
#include "model/system/system.h"

namespace lanescope {

/// Sparse file that is mapped once and divided into slots. A slot is much longer than its first
/// block, so that a block grows in place. Only used parts occupy disk space.
class LargeMemory::File {
  public:
    static std::unique_ptr<File> create(const std::filesystem::path& folder) {
        // Writing beyond the file size limit would end the process.
        rlimit limit{};
        if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return nullptr;
        Result<TemporaryFile> file = TemporaryFile::create(folder);
        if (!file) return nullptr;
        // If the address space is limited, a smaller mapping is tried.
        for (size_t bytes = maxMappedBytes; bytes >= minMappedBytes; bytes /= 4) {
            void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor(), 0);
            if (mapped != MAP_FAILED)
                return std::unique_ptr<File>(new File(std::move(*file), static_cast<std::byte*>(mapped), bytes));
        }
        return nullptr;
    }
    ~File() { ::munmap(base_, mappedBytes_); }
    File& operator=(File&&) = delete;

    bool contains(const void* block) const {
        const auto* const at = static_cast<const std::byte*>(block);
        return !std::less<>()(at, base_) && std::less<>()(at, base_ + mappedBytes_);
    }
    size_t usedBytes() const { return usedBytes_; }

    /// Returns null if there is no space.
    void* allocate(size_t bytes) {
        const std::optional<size_t> kind = kindFor(bytes);
        if (!kind) return nullptr;
        const std::optional<size_t> slot = takeSlot(*kind);
        if (!slot) return nullptr;
        if (!reserve(*slot, bytes, *kind)) {
            putBack(*slot, *kind);
            return nullptr;
        }
        usedBytes_ += bytes;
        return base_ + *slot;
    }

    void release(void* block, size_t bytes) {
        putBack(slotOf(block), *kindFor(bytes));
        usedBytes_ -= bytes;
    }

    /// Returns true if the block now has that length at the same address.
    bool grow(void* block, size_t oldBytes, size_t bytes) {
        const size_t kind = *kindFor(oldBytes);
        if (bytes > slotBytes(kind) || !reserve(slotOf(block), bytes, kind)) return false;
        usedBytes_ += bytes - oldBytes;
        return true;
    }

  private:
    /// Size of the mapping: more than the free space of typical disks; it occupies addresses only.
    static constexpr size_t maxMappedBytes = size_t{1} << 40;
    static constexpr size_t minMappedBytes = size_t{1} << 34;
    static constexpr size_t slotFactor = 8;
    static constexpr size_t kindCount = 9;
    /// Disk space is reserved in multiples of this size.
    static constexpr size_t grain = size_t{1} << 20;
    /// Limit of disk space that stays reserved for free slots: temporary blocks come and go, and
    /// their pages can be reused without a fault.
    static constexpr size_t maxReservedFreeBytes = size_t{1} << 30;

    File(TemporaryFile file, std::byte* base, size_t mappedBytes)
        : file_(std::move(file)), base_(base), mappedBytes_(mappedBytes) {}

    static constexpr size_t slotBytes(size_t kind) {
        size_t bytes = minLargeBytes;
        for (; kind > 0; --kind) bytes *= slotFactor;
        return bytes;
    }
    static std::optional<size_t> kindFor(size_t bytes) {
        for (size_t kind = 0; kind < kindCount; ++kind)
            if (bytes <= slotBytes(kind)) return kind;
        return std::nullopt;
    }
    size_t slotOf(const void* block) const { return static_cast<size_t>(static_cast<const std::byte*>(block) - base_); }

    std::optional<size_t> takeSlot(size_t kind) {
        std::vector<size_t>& free = freeSlots_[kind];
        if (!free.empty()) {
            const size_t slot = free.back();
            free.pop_back();
            freeBytes_ -= reserved_[slot];
            return slot;
        }
        if (slotBytes(kind) > mappedBytes_ - end_) return std::nullopt;
        const size_t slot = end_;
        end_ += slotBytes(kind);
        return slot;
    }

    void putBack(size_t slot, size_t kind) {
        size_t& reserved = reserved_[slot];
        // If holes are not supported, the disk space is freed with the file.
        if (freeBytes_ + reserved > maxReservedFreeBytes &&
            system::releaseDiskSpace(file_.descriptor(), static_cast<int64_t>(slot), static_cast<int64_t>(reserved)))
            reserved = 0;
        freeBytes_ += reserved;
        freeSlots_[kind].push_back(slot);
    }

    /// Reserves disk space, because a write to a mapped file on a full disk would end the process.
    bool reserve(size_t slot, size_t bytes, size_t kind) {
        size_t& reserved = reserved_[slot];
        const size_t wanted = std::min(slotBytes(kind), (bytes + grain - 1) / grain * grain);
        if (wanted <= reserved) return true;
        if (!system::reserveDiskSpace(file_.descriptor(), static_cast<int64_t>(slot + reserved),
                                      static_cast<int64_t>(wanted - reserved)))
            return false;
        reserved = wanted;
        return true;
    }

    TemporaryFile file_;
    std::byte* const base_;
    const size_t mappedBytes_;
    size_t end_ = 0;
    size_t usedBytes_ = 0;
    std::unordered_map<size_t, size_t> reserved_;  ///< Reserved bytes from the start of each slot.
    std::array<std::vector<size_t>, kindCount> freeSlots_;
    size_t freeBytes_ = 0;  ///< Reserved bytes of free slots.
};

namespace {

void* checked(void* block) {
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

}  // namespace

LargeMemory::LargeMemory(std::filesystem::path folder, size_t ownBytes)
    : folder_(std::move(folder)), maxOwnBytes_(ownBytes) {}

LargeMemory::~LargeMemory() = default;

void* LargeMemory::allocateInFile(size_t bytes) {
    if (!file_ && !isFileRefused_) {
        file_ = File::create(folder_);
        isFileRefused_ = file_ == nullptr;
    }
    return file_ ? file_->allocate(bytes) : nullptr;
}

bool LargeMemory::isInFile(const void* block) const { return file_ && file_->contains(block); }

void* LargeMemory::allocate(size_t bytes) {
    if (bytes < minLargeBytes) return checked(std::malloc(std::max<size_t>(bytes, 1)));
    const std::lock_guard lock(mutex_);
    return allocateWithin(maxOwnBytes_, bytes);
}

void* LargeMemory::allocateWithin(size_t maxOwnBytes, size_t bytes) {
    if (ownBytes_ + bytes > maxOwnBytes)
        if (void* const block = allocateInFile(bytes)) return block;
    void* const block = checked(std::malloc(bytes));
    ownBytes_ += bytes;
    return block;
}

void LargeMemory::release(void* block, size_t bytes) noexcept {
    if (bytes >= minLargeBytes) {
        const std::lock_guard lock(mutex_);
        if (isInFile(block)) return file_->release(block, bytes);
        ownBytes_ -= bytes;
    }
    std::free(block);
}

void* LargeMemory::resize(void* block, size_t oldBytes, size_t bytes) {
    if (bytes < minLargeBytes && oldBytes < minLargeBytes) return checked(std::realloc(block, bytes));
    void* moved = nullptr;
    {
        const size_t maxOwnBytes = maxOwnBytes_ / 2;
        const std::lock_guard lock(mutex_);
        if (block != nullptr && oldBytes >= minLargeBytes && bytes >= oldBytes) {
            if (isInFile(block)) {
                if (file_->grow(block, oldBytes, bytes)) return block;
            } else if (ownBytes_ + (bytes - oldBytes) <= maxOwnBytes) {
                void* const grown = checked(std::realloc(block, bytes));
                ownBytes_ += bytes - oldBytes;
                return grown;
            }
        }
        moved = bytes < minLargeBytes ? checked(std::malloc(bytes)) : allocateWithin(maxOwnBytes, bytes);
    }
    if (block != nullptr) std::memcpy(moved, block, std::min(oldBytes, bytes));
    if (block != nullptr) release(block, oldBytes);
    return moved;
}

size_t LargeMemory::ownBytes() const {
    const std::lock_guard lock(mutex_);
    return ownBytes_;
}

size_t LargeMemory::fileBytes() const {
    const std::lock_guard lock(mutex_);
    return file_ ? file_->usedBytes() : 0;
}

void* resizeBlock(LargeMemory* memory, void* block, size_t oldBytes, size_t bytes) {
    if (memory != nullptr) return memory->resize(block, oldBytes, bytes);
    return checked(std::realloc(block, bytes));
}

void releaseBlock(LargeMemory* memory, void* block, size_t bytes) noexcept {
    if (memory != nullptr)
        memory->release(block, bytes);
    else
        std::free(block);
}

}  // namespace lanescope
