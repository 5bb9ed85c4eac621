// SPDX-License-Identifier: Apache-2.0
#include "model/index/FieldWriter.h"

#include <algorithm>
#include <span>
#include <variant>

#include "model/format/checksum.h"

namespace lanescope {

StoredColumn FieldWriter::store(const PackedBlocks& packed, std::vector<int64_t>& rest) {
    isCancelled_ = isCancelled_ || !isWanted_();
    if (isCancelled_ || isTooLarge_) return {};
    StoredColumn stored;
    stored.count = packed.blockCount() * PackedBlocks::blockSize + rest.size();
    std::vector<PackedBlock> blocks(packed.blocks().begin(), packed.blocks().end());
    std::span<const std::byte> bytes = packed.bytes();
    if (!bytes.empty()) bytes = bytes.first(bytes.size() - PackedBlocks::padding);
    std::vector<uint32_t> checksums;
    for (const PackedBlock& block : blocks)
        checksums.push_back(PackedBlocks::checksumOfBlock(block, bytes).value_or(0));
    stored.dataOffset = file_.offset();
    file_.write(bytes);
    if (!rest.empty()) {
        // The last block is filled up, so that it is read like all others.
        rest.resize(PackedBlocks::blockSize, rest.back());
        PackedBlocks last;
        last.append(std::span<const int64_t, PackedBlocks::blockSize>(rest));
        PackedBlock block = last.blocks().front();
        block.place += bytes.size();
        blocks.push_back(block);
        const auto values = last.bytes().first(last.bytes().size() - PackedBlocks::padding);
        checksums.push_back(checksumOf(values, checksumOf(std::as_bytes(std::span(&block, 1)))));
        file_.write(values);
    }
    file_.write(std::array<std::byte, PackedBlocks::padding>{});
    stored.dataBytes = file_.offset() - stored.dataOffset;
    align();
    stored.blocksOffset = file_.offset();
    stored.blockCount = blocks.size();
    file_.write(std::as_bytes(std::span(blocks)));
    file_.write(std::as_bytes(std::span(checksums)));
    return stored;
}

void FieldWriter::align() {
    constexpr std::array<std::byte, 8> zeros{};
    file_.write(std::span(zeros).first((8 - file_.offset() % 8) % 8));
}

void FieldWriter::storeTilesAhead(const Trace& trace) {
    using Level = std::variant<const LaneTiles::Level*, const CounterSeries::Level*>;
    std::vector<std::pair<size_t, Level>> levels;  // with their sizes
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes)
            for (const LaneTiles::Level& level : lane.tiles->levels)
                levels.emplace_back(level.bucketCount(), &level);
    for (const CounterSeries& counter : trace.counters)
        for (const CounterSeries::Level& level : counter.levels())
            levels.emplace_back(level.timesNs.size(), &level);
    std::ranges::stable_sort(levels, {}, &std::pair<size_t, Level>::first);
    const auto storeAhead = [this](const auto& field) {
        if constexpr (requires { field.packed(); }) ahead_[&field] = store(field);
    };
    for (const auto& [size, level] : levels)
        std::visit([&](const auto* each) { forEachField(*each, storeAhead); }, level);
}

void FieldWriter::operator()(const StringTable& strings) {
    Column<uint64_t> ends;
    uint64_t end = 0;
    const uint64_t offset = file_.offset();
    for (uint32_t index = 0; index < strings.size(); ++index) {
        const std::string_view text = strings.at(index);
        file_.write(std::as_bytes(std::span(text)));
        ends.push_back(end += text.size());
    }
    align();
    put(offset);
    put(end);
    put(file_.offset());
    for (uint32_t first = 0; first < strings.size(); first += StringTable::blockSize) {
        const uint32_t checksum = strings.checksumOfBlock(first / StringTable::blockSize);
        file_.write(std::as_bytes(std::span(&checksum, 1)));
    }
    (*this)(ends);
}

}  // namespace lanescope
