// SPDX-License-Identifier: Apache-2.0
#include "model/trace/PackedBlocks.h"

#include <algorithm>
#include <utility>

#include "model/format/checksums.h"

namespace lanescope {

namespace {

template <class Unsigned>
void widen(const std::byte* from, int64_t base, std::span<int64_t, PackedBlocks::blockSize> out) {
    for (size_t i = 0; i < out.size(); ++i) {
        Unsigned offset = 0;
        std::memcpy(&offset, from + i * sizeof offset, sizeof offset);
        out[i] = static_cast<int64_t>(static_cast<uint64_t>(base) + offset);
    }
}

constexpr uint64_t blockBytes(uint64_t width) { return PackedBlocks::blockSize / 8 * width; }

/// Limit of the range of a sloped block; beyond it the rise would overflow.
constexpr uint64_t maxSlopedSpread = uint64_t{1} << 54;

using Values = std::span<const int64_t, PackedBlocks::blockSize>;

/// Returns the slope of the line from the first to the last value, in 256ths.
uint64_t slopeOf(Values values) {
    const int64_t rise = values.back() - values.front();
    return static_cast<uint64_t>(rise * 256 / static_cast<int64_t>(values.size() - 1));
}

/// Returns the number of bits for a range of values: few enough that a value always lies within eight bytes, or all 64.
uint64_t widthFor(uint64_t spread) {
    const auto bits = static_cast<uint64_t>(std::bit_width(spread));
    return bits > 57 ? 64 : bits;
}

}  // namespace

PackedBlocks::PackedBlocks(const PackedBlocks& other)
    : blocks_(other.blocks_),
      data_(other.data_),
      lastLoad_(other.lastLoad_),
      blockCount_(other.blockCount_),
      dataSize_(other.dataSize_),
      checks_(other.checks_),
      ownedBlocks_(other.ownedBlocks_.begin(), other.ownedBlocks_.end()),
      ownedData_(nullptr, Release()) {
    if (!other.ownedData_) return;
    growTo(dataSize_);
    std::memcpy(ownedData_.get(), other.data_, dataSize_ + padding);
    pointToOwned();
}

PackedBlocks::PackedBlocks(PackedBlocks&& other) noexcept
    : blocks_(std::exchange(other.blocks_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      lastLoad_(std::exchange(other.lastLoad_, 0)),
      blockCount_(std::exchange(other.blockCount_, 0)),
      dataSize_(std::exchange(other.dataSize_, 0)),
      checks_(std::exchange(other.checks_, {})),
      ownedBlocks_(std::move(other.ownedBlocks_)),
      ownedData_(std::move(other.ownedData_)) {
    other.ownedData_.get_deleter().capacity = 0;
}

PackedBlocks& PackedBlocks::operator=(PackedBlocks other) noexcept {
    std::swap(blocks_, other.blocks_);
    std::swap(data_, other.data_);
    std::swap(lastLoad_, other.lastLoad_);
    std::swap(blockCount_, other.blockCount_);
    std::swap(dataSize_, other.dataSize_);
    std::swap(checks_, other.checks_);
    std::swap(ownedBlocks_, other.ownedBlocks_);
    std::swap(ownedData_, other.ownedData_);
    return *this;
}

bool PackedBlocks::map(std::span<const PackedBlock> blocks, std::span<const std::byte> data, BlockChecks checks) {
    if (data.size() < padding) return false;
    *this = PackedBlocks(memory());
    blocks_ = blocks.data();
    blockCount_ = blocks.size();
    data_ = data.data();
    dataSize_ = data.size() - padding;
    lastLoad_ = dataSize_;
    checks_ = checks;
    return true;
}

std::optional<uint32_t> PackedBlocks::checksumOfBlock(const PackedBlock& block, std::span<const std::byte> data) {
    const uint64_t bytes = (block.isSloped() ? PackedBlock::slopeBytes : 0) + blockBytes(block.width());
    if (block.width() > 64 || block.offset() > data.size() || bytes > data.size() - block.offset()) return std::nullopt;
    const uint32_t own = checksumOf(std::as_bytes(std::span(&block, 1)));
    return checksumOf(data.subspan(static_cast<size_t>(block.offset()), static_cast<size_t>(bytes)), own);
}

void PackedBlocks::check(size_t block) const {
    if (const auto checksum = checksumOfBlock(blocks_[block], {data_, dataSize_}))
        checks_.compare(block, *checksum);
    else
        checks_.fail(block);
}

void PackedBlocks::checkAll() const {
    for (size_t block = 0; block < blockCount_; ++block)
        if (checks_.isDue(block)) check(block);
}

void PackedBlocks::unpack(size_t block, std::span<int64_t, blockSize> out) const {
    if (checks_.isDue(block)) [[unlikely]]
        check(block);
    const PackedBlock& place = blocks_[block];
    const uint64_t width = place.width();
    const uint64_t before = place.isSloped() ? PackedBlock::slopeBytes : 0;
    if (width > 64 || place.offset() + before + blockBytes(width) > lastLoad_) {
        for (size_t i = 0; i < blockSize; ++i) out[i] = at(block * blockSize + i);
        return;
    }
    unpackBits(data_ + place.offset() + before, width, place.base, out);
    if (!place.isSloped()) return;
    const uint64_t slope = load(place.offset());
    for (size_t i = 0; i < blockSize; ++i)
        out[i] = static_cast<int64_t>(static_cast<uint64_t>(out[i]) + PackedBlock::rise(slope, i));
}

void PackedBlocks::unpackBits(const std::byte* from, uint64_t width, int64_t base, std::span<int64_t, blockSize> out) {
    switch (width) {
        case 0: std::ranges::fill(out, base); return;
        case 8: return widen<uint8_t>(from, base, out);
        case 16: return widen<uint16_t>(from, base, out);
        case 32: return widen<uint32_t>(from, base, out);
        case 64: return widen<uint64_t>(from, base, out);
        default: break;
    }
    const uint64_t mask = maskOf[width];
    for (size_t i = 0; i < blockSize; ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, from + i * width / 8, sizeof bits);
        out[i] = static_cast<int64_t>(static_cast<uint64_t>(base) + (bits >> i * width % 8 & mask));
    }
}

void PackedBlocks::growTo(size_t bytes) {
    size_t& capacity = ownedData_.get_deleter().capacity;
    if (bytes + padding <= capacity) return;
    const size_t wanted = std::max(bytes + padding, capacity + capacity / 2);
    void* const grown = resizeBlock(memory(), ownedData_.get(), capacity, wanted);
    (void)ownedData_.release();  // Owned by the resized block now, if that succeeded.
    ownedData_.reset(static_cast<std::byte*>(grown));
    capacity = wanted;
}

void PackedBlocks::pointToOwned() {
    blocks_ = ownedBlocks_.data();
    blockCount_ = ownedBlocks_.size();
    data_ = ownedData_.get();
    lastLoad_ = dataSize_;
}

PackedBlock PackedBlocks::pack(std::span<const int64_t, blockSize> values) {
    const auto [minValue, maxValue] = std::minmax_element(values.begin(), values.end());
    const uint64_t spread = static_cast<uint64_t>(*maxValue) - static_cast<uint64_t>(*minValue);
    const uint64_t width = widthFor(spread);
    if (width > 1 && spread < maxSlopedSpread) {
        const uint64_t slope = slopeOf(values);
        std::array<int64_t, blockSize> heights;
        for (size_t i = 0; i < blockSize; ++i)
            heights[i] = static_cast<int64_t>(static_cast<uint64_t>(values[i]) - PackedBlock::rise(slope, i));
        const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
        const uint64_t slopedWidth = widthFor(static_cast<uint64_t>(*high) - static_cast<uint64_t>(*low));
        if (blockBytes(slopedWidth) + PackedBlock::slopeBytes < blockBytes(width)) {
            const uint64_t offset = dataSize_;
            growTo(dataSize_ + PackedBlock::slopeBytes);
            std::memcpy(ownedData_.get() + dataSize_, &slope, sizeof slope);
            dataSize_ += PackedBlock::slopeBytes;
            packBits(heights, *low, slopedWidth);
            return {*low, offset | slopedWidth << PackedBlock::widthShift | PackedBlock::slopedFlag};
        }
    }
    const uint64_t offset = dataSize_;
    packBits(values, *minValue, width);
    return {*minValue, offset | width << PackedBlock::widthShift};
}

void PackedBlocks::packBits(std::span<const int64_t, blockSize> values, int64_t minValue, uint64_t width) {
    const auto base = static_cast<uint64_t>(minValue);
    growTo(dataSize_ + blockBytes(width));
    std::byte* to = ownedData_.get() + dataSize_;
    // Collects bits in a word until it is full; a block fills whole words.
    uint64_t word = 0;
    uint64_t filled = 0;
    for (const int64_t value : values) {
        const uint64_t offset = static_cast<uint64_t>(value) - base;
        word |= offset << filled;
        filled += width;
        if (filled < 64) continue;
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
        filled -= 64;
        word = filled == 0 ? 0 : offset >> (width - filled);
    }
    dataSize_ += blockBytes(width);
    std::memset(ownedData_.get() + dataSize_, 0, padding);
}

void PackedBlocks::append(std::span<const int64_t, blockSize> values) {
    const PackedBlock block = pack(values);
    ownedBlocks_.push_back(block);
    pointToOwned();
}

void PackedBlocks::set(size_t index, int64_t value) {
    PackedBlock& block = ownedBlocks_[index / blockSize];
    const uint64_t offset = static_cast<uint64_t>(value) - static_cast<uint64_t>(block.base);
    if (!block.isSloped() && value >= block.base && (offset & ~maskOf[block.width()]) == 0) {
        const uint64_t bit = index % blockSize * block.width();
        std::byte* const at = ownedData_.get() + block.offset() + bit / 8;
        uint64_t bits = 0;
        std::memcpy(&bits, at, sizeof bits);
        bits = (bits & ~(maskOf[block.width()] << bit % 8)) | offset << bit % 8;
        std::memcpy(at, &bits, sizeof bits);
        return;
    }
    std::array<int64_t, blockSize> values;
    unpack(index / blockSize, values);
    values[index % blockSize] = value;
    block = pack(values);
    pointToOwned();
}

}  // namespace lanescope
