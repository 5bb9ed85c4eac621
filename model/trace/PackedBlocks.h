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
#include <vector>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// The checksums of something that is mapped from a file, block by block. Each is compared when its
/// block is first read, since to read them all would take as long as to read the file. Refers to
/// memory that stays. Any thread.
class BlockChecks {
  public:
    /// Of what needs no check.
    BlockChecks() = default;
    /// `seen` has a zero for each of the `checksums`; `damaged` counts the blocks that differ.
    BlockChecks(std::span<const uint32_t> checksums, std::atomic<uint8_t>* seen,
                std::atomic<uint32_t>* damaged)
        : checksums_(checksums.data()), seen_(seen), damaged_(damaged) {}

    /// Whether nobody has compared this block yet.
    bool isDue(size_t block) const {
        return seen_ != nullptr && seen_[block].load(std::memory_order_relaxed) == 0;
    }
    void compare(size_t block, uint32_t checksum) const {
        if (checksum != checksums_[block]) noteDamage();
        seen_[block].store(1, std::memory_order_relaxed);
    }
    /// Of a block that does not even say where it lies.
    void fail(size_t block) const {
        noteDamage();
        seen_[block].store(1, std::memory_order_relaxed);
    }

  private:
    void noteDamage() const { damaged_->fetch_add(1, std::memory_order_relaxed); }

    const uint32_t* checksums_ = nullptr;
    std::atomic<uint8_t>* seen_ = nullptr;
    std::atomic<uint32_t>* damaged_ = nullptr;
};

static_assert(std::endian::native == std::endian::little, "packed blocks are little-endian");

/// Where a block of values lies and how to read it: each value is `base` plus `width()` bits, and
/// in a sloped block what a straight line has risen to there. Its slope lies before the bits.
struct PackedBlock {
    int64_t base = 0;  ///< The least value of the block, or the least height above the line.
    /// Offset of its bytes; the highest byte is the number of bits of a value, plus 128 if sloped.
    uint64_t place = 0;

    static constexpr int widthShift = 56;
    static constexpr uint64_t slopedFlag = uint64_t{1} << 63;
    static constexpr uint64_t slopeBytes = 8;
    uint64_t offset() const { return place & ((uint64_t{1} << widthShift) - 1); }
    uint64_t width() const { return (place & ~slopedFlag) >> widthShift; }
    bool isSloped() const { return (place & slopedFlag) != 0; }
    /// How far a line has risen at the `index`th value; its slope is in 256ths.
    static uint64_t rise(uint64_t slope, uint64_t index) {
        return static_cast<uint64_t>(static_cast<int64_t>(slope * index) >> 8);
    }
    bool operator==(const PackedBlock&) const = default;
};

/// The storage of a `Column`: whole blocks of 64-bit values, each as wide as the spread of its
/// values asks for; where they rise evenly, as times and rows do, only how far each is off a
/// straight line is stored. Either owned and growing, or mapped: views of somebody else's memory,
/// which may hold anything; a block that points out of it reads as 0, and one that differs from its
/// checksum is counted when it is first read. Reading is for any thread.
class PackedBlocks {
  public:
    static constexpr size_t blockSize = 256;
    /// Bytes behind the values, so that every value can be read by one load of eight.
    static constexpr size_t padding = 8;

    /// Grows in `memory`, which must outlive it.
    explicit PackedBlocks(LargeMemory* memory = nullptr)
        : ownedBlocks_(memory), ownedData_(nullptr, Release{memory}) {}
    /// A copy is in no `LargeMemory`.
    PackedBlocks(const PackedBlocks& other);
    PackedBlocks(PackedBlocks&& other) noexcept;
    PackedBlocks& operator=(PackedBlocks other) noexcept;
    ~PackedBlocks() = default;

    /// Views of memory that stays; false if `data` is too short to be padded. `checks` has one for
    /// each block, or is for none.
    bool map(std::span<const PackedBlock> blocks, std::span<const std::byte> data,
             BlockChecks checks = {});
    /// Of a block and the values that it names, which lie in `data`; nothing if they do not.
    static std::optional<uint32_t> checksumOfBlock(const PackedBlock& block,
                                                   std::span<const std::byte> data);
    /// Compares all blocks of mapped storage with their checksums.
    void checkAll() const;

    /// The value with this index; it must lie in a block.
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
    /// All values of a block.
    void unpack(size_t block, std::span<int64_t, blockSize> out) const;

    size_t blockCount() const { return blockCount_; }
    /// Appends a block.
    void append(std::span<const int64_t, blockSize> values);
    /// Changes one value of owned storage; may store its block anew, behind all others.
    void set(size_t index, int64_t value);
    LargeMemory* memory() const { return ownedData_.get_deleter().memory; }

    /// As they lie in memory; the bytes with their padding.
    std::span<const PackedBlock> blocks() const { return {blocks_, blockCount_}; }
    std::span<const std::byte> bytes() const { return {data_, data_ ? dataSize_ + padding : 0}; }

  private:
    struct Release {
        LargeMemory* memory = nullptr;
        size_t capacity = 0;
        void operator()(std::byte* data) const { releaseBlock(memory, data, capacity); }
    };
    /// The lowest bits, by their number; files may name any.
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
    static void unpackBits(const std::byte* from, uint64_t width, int64_t base,
                           std::span<int64_t, blockSize> out);
    PackedBlock pack(std::span<const int64_t, blockSize> values);
    void packBits(std::span<const int64_t, blockSize> values, int64_t least, uint64_t width);
    void growTo(size_t bytes);
    void pointToOwned();

    // What is read through, owned or not.
    const PackedBlock* blocks_ = nullptr;
    const std::byte* data_ = nullptr;
    uint64_t lastLoad_ = 0;  // the last offset that eight bytes can be read from
    size_t blockCount_ = 0;
    size_t dataSize_ = 0;  // without padding
    BlockChecks checks_;

    LargeVector<PackedBlock> ownedBlocks_;
    std::unique_ptr<std::byte, Release> ownedData_;  // grows without being copied, if it is large
};

}  // namespace lanescope
