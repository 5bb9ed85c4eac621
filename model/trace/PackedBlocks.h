// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// Checksums of the blocks of mapped data. Each block is checked when it is first read, because checking all at once
/// would take as long as reading the file. Refers to memory that stays. Any thread.
class BlockChecks {
  public:
    /// Checks nothing.
    BlockChecks() = default;
    /// `seen` has a zero for each of the `checksums`; `damaged` counts the blocks that differ.
    BlockChecks(std::span<const uint32_t> checksums, std::atomic<uint8_t>* seen, std::atomic<uint32_t>* damaged)
        : checksums_(checksums.data()), seen_(seen), corrupt_(damaged) {}

    /// Returns true if the block has not been checked yet.
    bool isDue(size_t block) const { return seen_ != nullptr && seen_[block].load(std::memory_order_relaxed) == 0; }
    void compare(size_t block, uint32_t checksum) const {
        if (checksum != checksums_[block]) noteCorruption();
        seen_[block].store(1, std::memory_order_relaxed);
    }
    /// Counts a block whose position is invalid.
    void fail(size_t block) const {
        noteCorruption();
        seen_[block].store(1, std::memory_order_relaxed);
    }

  private:
    void noteCorruption() const { corrupt_->fetch_add(1, std::memory_order_relaxed); }

    const uint32_t* checksums_ = nullptr;
    std::atomic<uint8_t>* seen_ = nullptr;
    std::atomic<uint32_t>* corrupt_ = nullptr;
};

static_assert(std::endian::native == std::endian::little, "packed blocks are little-endian");

/// Location and encoding of a block of values: each value is `base` plus `width()` bits, in a
/// sloped block plus the rise of a straight line. The slope is stored before the bits.
struct PackedBlock {
    int64_t base = 0;  ///< Minimum of the block, or of the heights above the line.
    /// Offset of its bytes; the highest byte is the number of bits per value, plus 128 if sloped.
    uint64_t place = 0;

    static constexpr int widthShift = 56;
    static constexpr uint64_t slopedFlag = uint64_t{1} << 63;
    static constexpr uint64_t slopeBytes = 8;
    uint64_t offset() const { return place & ((uint64_t{1} << widthShift) - 1); }
    uint64_t width() const { return (place & ~slopedFlag) >> widthShift; }
    bool isSloped() const { return (place & slopedFlag) != 0; }
    /// Returns the rise of a line at the `index`th value; its slope is in 256ths.
    static uint64_t rise(uint64_t slope, uint64_t index) {
        return static_cast<uint64_t>(static_cast<int64_t>(slope * index) >> 8);
    }
    bool operator==(const PackedBlock&) const = default;
};

/// Storage of a `Column`: full blocks of 64-bit values, packed to the bits that their range needs.
/// If values rise evenly, as times and rows do, only the distances from a straight line are stored.
/// Either owned and growing, or mapped: views of other memory with any content. A block that points
/// outside reads as 0; a checksum mismatch is counted on the first read. Any thread can read.
class PackedBlocks {
  public:
    static constexpr size_t blockSize = 256;
    /// Bytes after the values, so that one load of eight bytes reads any value.
    static constexpr size_t padding = 8;

    /// Makes storage that grows in `memory`, which must outlive it.
    explicit PackedBlocks(LargeMemory* memory = nullptr) : ownedBlocks_(memory), ownedData_(nullptr, Release{memory}) {}
    /// A copy is in no `LargeMemory`.
    PackedBlocks(const PackedBlocks& other);
    PackedBlocks(PackedBlocks&& other) noexcept;
    PackedBlocks& operator=(PackedBlocks other) noexcept;
    ~PackedBlocks() = default;

    /// Maps memory that stays valid. Returns false if `data` is too short for the padding. `checks`
    /// has one for each block, or is empty.
    bool map(std::span<const PackedBlock> blocks, std::span<const std::byte> data, BlockChecks checks = {});
    /// Returns the checksum of a block and its values in `data`; nullopt if they are outside.
    static std::optional<uint32_t> checksumOfBlock(const PackedBlock& block, std::span<const std::byte> data);
    /// Checks all blocks of mapped storage.
    void checkAll() const;

    /// Returns the value with this index, which must be in a block.
    int64_t at(size_t index) const {
        if (checks_.isDue(index / blockSize)) [[unlikely]]
            check(index / blockSize);
        const PackedBlock block = blocks_[index / blockSize];
        const uint64_t width = block.width();
        const uint64_t bit = index % blockSize * width;
        uint64_t at = block.offset() + bit / 8;
        auto value = static_cast<uint64_t>(block.base);
        if (block.isSloped()) {
            if (block.offset() > lastLoad_) [[unlikely]]
                return 0;
            value += PackedBlock::rise(load(block.offset()), index % blockSize);
            at += PackedBlock::slopeBytes;
        }
        if (at > lastLoad_) [[unlikely]]
            return 0;
        return static_cast<int64_t>(value + (load(at) >> bit % 8 & maskOf[width]));
    }
    void unpack(size_t block, std::span<int64_t, blockSize> out) const;

    size_t blockCount() const { return blockCount_; }
    void append(std::span<const int64_t, blockSize> values);
    /// Changes one value of owned storage; may append its block again.
    void set(size_t index, int64_t value);
    LargeMemory* memory() const { return ownedData_.get_deleter().memory; }

    /// As in memory; the bytes with their padding.
    std::span<const PackedBlock> blocks() const { return {blocks_, blockCount_}; }
    std::span<const std::byte> bytes() const { return {data_, data_ ? dataSize_ + padding : 0}; }

  private:
    struct Release {
        LargeMemory* memory = nullptr;
        size_t capacity = 0;
        void operator()(std::byte* data) const { releaseBlock(memory, data, capacity); }
    };
    /// Masks of the lowest bits by their count; files may contain any count.
    static constexpr std::array<uint64_t, 128> maskOf = [] {
        std::array<uint64_t, 128> masks{};
        for (size_t width = 1; width < masks.size(); ++width)
            masks[width] = width < 64 ? (uint64_t{1} << width) - 1 : ~uint64_t{0};
        return masks;
    }();

    uint64_t load(uint64_t offset) const {
        uint64_t bits = 0;
        std::memcpy(&bits, data_ + offset, sizeof bits);
        return bits;
    }
    void check(size_t block) const;
    static void unpackBits(const std::byte* from, uint64_t width, int64_t base, std::span<int64_t, blockSize> out);
    PackedBlock pack(std::span<const int64_t, blockSize> values);
    void packBits(std::span<const int64_t, blockSize> values, int64_t minValue, uint64_t width);
    void growTo(size_t bytes);
    void pointToOwned();

    // Views for reading, owned or mapped.
    const PackedBlock* blocks_ = nullptr;
    const std::byte* data_ = nullptr;
    uint64_t lastLoad_ = 0;  // Last offset from which eight bytes can be read.
    size_t blockCount_ = 0;
    size_t dataSize_ = 0;  // Without padding.
    BlockChecks checks_;

    LargeVector<PackedBlock> ownedBlocks_;
    std::unique_ptr<std::byte, Release> ownedData_;  // Grows without a copy if it is large.
};

}  // namespace lanescope
