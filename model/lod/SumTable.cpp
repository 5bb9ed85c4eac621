// SPDX-License-Identifier: Apache-2.0
#include "model/lod/SumTable.h"

#include <algorithm>
#include <array>
#include <bit>

#include "model/numbers/Statistics.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

/// Iterates over the slices of several lanes by start.
class MergedSlices {
  public:
    /// Begins at the first slice of each lane that ends after `fromNs`.
    MergedSlices(std::span<const Lane> lanes, int64_t fromNs) : lanes_(lanes) {
        for (const Lane& lane : lanes) next_.push_back(lane.firstEndingAt(fromNs + 1));
    }

    /// Returns false after the last slice.
    bool take(TimeRange& slice) {
        size_t earliest = lanes_.size();
        for (size_t index = 0; index < lanes_.size(); ++index) {
            if (next_[index] >= lanes_[index].size()) continue;
            const int64_t startNs = lanes_[index].startNs[next_[index]];
            if (earliest < lanes_.size() && startNs >= slice.startNs) continue;
            earliest = index;
            slice.startNs = startNs;
        }
        if (earliest == lanes_.size()) return false;
        slice.endNs = lanes_[earliest].endNs(next_[earliest]++);
        return true;
    }

  private:
    std::span<const Lane> lanes_;
    std::vector<uint32_t> next_;
};

/// Returns the busy time of all lanes before `timeNs`.
int64_t busyBefore(std::span<const Lane> lanes, const UnionSums& sums, int64_t timeNs) {
    const auto after = std::ranges::upper_bound(sums.timeNs, timeNs);
    const auto moment = static_cast<size_t>(after - sums.timeNs.begin());
    int64_t coveredToNs = moment > 0 ? sums.timeNs[moment - 1] : INT64_MIN;
    int64_t busyNs = moment > 0 ? sums.busyNs[moment - 1] : 0;
    MergedSlices slices(lanes, coveredToNs);
    for (TimeRange slice; slices.take(slice) && slice.startNs < timeNs;) {
        const int64_t endNs = std::min(slice.endNs, timeNs);
        busyNs += std::max<int64_t>(0, endNs - std::max(slice.startNs, coveredToNs));
        coveredToNs = std::max(coveredToNs, endNs);
    }
    return busyNs;
}

/// Returns `bytes * part / whole`, rounded, for a part of a copy.
int64_t shareOf(int64_t bytes, int64_t partNs, int64_t wholeNs) {
    if (partNs == wholeNs) return bytes;
    const __int128 product = static_cast<__int128>(bytes) * partNs;
    return static_cast<int64_t>((product + wholeNs / 2) / wholeNs);
}

Sums sumsOf(int64_t durationNs, int64_t bytes) {
    return {1, durationNs, durationNs, durationNs, bytes, durationNs == 0 ? bytes : 0};
}

SumKey keyOf(const Trace& trace, EventRef event, StringIndex name) {
    const uint32_t row = event.row();
    if (event.kind() == EventKind::Memcpy)
        return SumKey::ofMemcpy(trace.memcpys.kind[row], trace.memcpys.sourceMemory[row],
                                trace.memcpys.destinationMemory[row]);
    if (event.kind() == EventKind::Memset) return SumKey::ofMemset(trace.memsets.memory[row]);
    return {event.kind(), name};
}

/// Blocks of one level of a lane's sums.
struct Level {
    uint64_t blockSize;  ///< In slices.
    size_t firstBlock;   ///< Index into `LaneSums::listEnd`.
    size_t blockCount;
};

std::vector<Level> levelsOf(uint32_t sliceCount) {
    std::vector<Level> levels;
    size_t first = 0;
    for (uint64_t size = LaneSums::leafSize;; size *= LaneSums::fanOut) {
        const auto count = static_cast<size_t>((sliceCount + size - 1) / size);
        levels.push_back({size, first, count});
        if (count <= 1) return levels;
        first += count;
    }
}

/// Adds the list of a block, a number of `LaneSums::listEnd`. Returns false if the block has none.
bool addList(const LaneSums& sums, size_t block, SumTable& table) {
    if (block >= sums.listEnd.size()) return false;
    const size_t end = std::min<size_t>(sums.listEnd[block], sums.key.size());
    const size_t first = block > 0 ? sums.listEnd[block - 1] : 0;
    if (first >= end || end - first > LaneSums::maxListLength) return false;
    constexpr size_t blockSize = 256;
    std::array<uint32_t, blockSize> keys;
    std::array<std::array<int64_t, blockSize>, 6> values;
    const std::array<const Column<int64_t>*, 6> columns{&sums.count,     &sums.totalNs, &sums.minimumNs,
                                                        &sums.maximumNs, &sums.bytes,   &sums.untimedBytes};
    for (size_t from = first; from < end; from += blockSize) {
        const size_t count = std::min(blockSize, end - from);
        sums.key.copyTo(std::span(keys).first(count), from);
        for (size_t column = 0; column < columns.size(); ++column)
            columns[column]->copyTo(std::span(values[column]).first(count), from);
        for (size_t index = 0; index < count; ++index)
            table.add(SumKey::fromBits(keys[index]), {values[0][index], values[1][index], values[2][index],
                                                      values[3][index], values[4][index], values[5][index]});
    }
    return true;
}

/// Sums one range of a lane.
class RunSummer {
  public:
    RunSummer(const Trace& trace, const Lane& lane, const LaneSums& sums, SumTable& table)
        : trace_(trace), lane_(lane), sums_(sums), table_(table), levels_(levelsOf(lane.size())) {}

    void sum(uint32_t first, uint32_t end) { sum(levels_.size() - 1, first, end); }

  private:
    /// Adds `[first, end)` by blocks of `level` inside, and by lower levels at the ends.
    void sum(size_t level, uint64_t first, uint64_t end) {
        const Level& blocks = levels_[level];
        for (uint64_t block = first / blocks.blockSize; block * blocks.blockSize < end; ++block) {
            const uint64_t blockFirst = block * blocks.blockSize;
            const uint64_t blockEnd = std::min<uint64_t>(blockFirst + blocks.blockSize, lane_.size());
            const bool isWhole = first <= blockFirst && blockEnd <= end;
            if (isWhole && addList(sums_, blocks.firstBlock + block, table_)) continue;
            const uint64_t from = std::max(first, blockFirst);
            const uint64_t to = std::min(end, blockEnd);
            if (level > 0)
                sum(level - 1, from, to);
            else
                sumSlices(trace_, lane_, static_cast<uint32_t>(from), static_cast<uint32_t>(to), table_);
        }
    }

    const Trace& trace_;
    const Lane& lane_;
    const LaneSums& sums_;
    SumTable& table_;
    const std::vector<Level> levels_;
};

/// Builds a lane's lists, each level from the one below. Above a missing list, a block has too many names as well.
class LaneSummer {
  public:
    LaneSummer(const Trace& trace, const Lane& lane)
        : trace_(trace), lane_(lane), levels_(levelsOf(lane.size())), sums_(lane.startNs.memory()) {}

    LaneSums run(const std::stop_token& stop) {
        // The slices of a lane with a single leaf are read anyway.
        if (!needsSums(lane_)) return {};
        for (size_t level = 0; level < levels_.size(); ++level)
            for (size_t block = 0; block < levels_[level].blockCount; ++block) {
                if (stop.stop_requested()) return {};
                table_.clear();
                const bool isComplete = level == 0 ? sumLeaf(block) : sumBlock(level, block);
                if (isComplete && isShort(levels_[level].blockSize)) appendList();
                sums_.listEnd.push_back(static_cast<uint32_t>(sums_.key.size()));
            }
        return std::move(sums_);
    }

  private:
    bool sumLeaf(size_t block) {
        const auto first = static_cast<uint32_t>(block * LaneSums::leafSize);
        const uint32_t end = std::min(lane_.size(), first + LaneSums::leafSize);
        sumSlices(trace_, lane_, first, end, table_);
        return true;
    }

    bool sumBlock(size_t level, size_t block) {
        const Level& lower = levels_[level - 1];
        const size_t first = block * LaneSums::fanOut;
        const size_t end = std::min<size_t>(lower.blockCount, first + LaneSums::fanOut);
        for (size_t child = first; child < end; ++child)
            if (!addList(sums_, lower.firstBlock + child, table_)) return false;
        return true;
    }

    bool isShort(uint64_t sliceCount) const {
        return table_.size() <= LaneSums::maxListLength && table_.size() * LaneSums::minGain <= sliceCount;
    }

    void appendList() {
        for (const auto& [key, sums] : table_.sorted()) {
            sums_.key.push_back(key.bits());
            sums_.count.push_back(sums.count);
            sums_.totalNs.push_back(sums.totalNs);
            sums_.minimumNs.push_back(sums.minimumNs);
            sums_.maximumNs.push_back(sums.maximumNs);
            sums_.bytes.push_back(sums.bytes);
            sums_.untimedBytes.push_back(sums.untimedBytes);
        }
    }

    const Trace& trace_;
    const Lane& lane_;
    const std::vector<Level> levels_;
    SumTable table_;
    LaneSums sums_;
};

}  // namespace

SliceRun slicesIn(const Lane& lane, TimeRange range) {
    if (range.isEmpty()) return {};
    uint32_t first = lane.firstEndingAt(range.startNs);
    // A slice that ends at the start of the range is outside, unless its duration is zero.
    while (first < lane.size() && lane.endNs(first) == range.startNs && lane.startNs[first] < range.startNs) ++first;
    const auto to = std::ranges::lower_bound(lane.startNs, range.endNs);
    return {first, std::max(first, static_cast<uint32_t>(to - lane.startNs.begin()))};
}

int64_t busyTime(const Lane& lane, TimeRange range) {
    const SliceRun run = slicesIn(lane, range);
    if (run.isEmpty()) return 0;
    const int64_t beforeNs = std::max<int64_t>(0, range.startNs - lane.startNs[run.first]);
    const int64_t afterNs = std::max<int64_t>(0, lane.endNs(run.end - 1) - range.endNs);
    return lane.busyBefore(run.end) - lane.busyBefore(run.first) - beforeNs - afterNs;
}

UnionSums buildUnionSums(std::span<const Lane> lanes, const std::stop_token& stop) {
    if (lanes.size() < 2) return UnionSums();
    UnionSums sums(lanes.front().startNs.memory());
    uint32_t sinceTime = UnionSums::slicesPerTime;
    int64_t busyNs = 0;
    int64_t coveredToNs = INT64_MIN;
    MergedSlices slices(lanes, INT64_MIN);
    for (TimeRange slice; slices.take(slice);) {
        if (++sinceTime > UnionSums::slicesPerTime) {
            // Before this slice starts; the covered time after it is added later.
            const int64_t beyondNs = coveredToNs > slice.startNs ? coveredToNs - slice.startNs : 0;
            if (stop.stop_requested()) break;
            sums.timeNs.push_back(slice.startNs);
            sums.busyNs.push_back(busyNs - beyondNs);
            sinceTime = 0;
        }
        if (slice.endNs <= coveredToNs) continue;
        busyNs += slice.endNs - std::max(slice.startNs, coveredToNs);
        coveredToNs = slice.endNs;
    }
    return sums;
}

int64_t busyTime(std::span<const Lane> lanes, const UnionSums& sums, TimeRange range) {
    if (range.isEmpty() || lanes.empty()) return 0;
    if (lanes.size() == 1) return busyTime(lanes.front(), range);
    return busyBefore(lanes, sums, range.endNs) - busyBefore(lanes, sums, range.startNs);
}

bool holdsEvents(TrackKind kind) {
    return std::ranges::any_of(kindsInOrder(),
                               [kind](EventKind events) { return !isSampled(events) && mayHold(kind, events); });
}

TraceSums buildTraceSums(const Trace& trace, unsigned threads, const std::stop_token& stop) {
    TraceSums sums;
    sums.tracks.reserve(trace.tracks.size());
    Tasks tasks;
    for (const Track& track : trace.tracks) {
        TrackSums& ofTrack = sums.tracks.emplace_back();
        if (!holdsEvents(track.kind)) continue;
        if (std::ranges::any_of(track.lanes, [](const Lane& lane) { return needsSums(lane); }))
            ofTrack.lanes.resize(track.lanes.size());
        for (size_t lane = 0; lane < ofTrack.lanes.size(); ++lane)
            tasks.emplace_back([&trace, &stop, &sums = ofTrack.lanes[lane], &slices = track.lanes[lane]] {
                sums = buildLaneSums(trace, slices, stop);
            });
        if (track.kind == TrackKind::Stream && track.lanes.size() > 1)
            tasks.emplace_back([&ofTrack, &track, &stop] { ofTrack.busy = buildUnionSums(track.lanes, stop); });
    }
    runTasks(threads, tasks);
    return sums;
}

void Sums::add(const Sums& other) {
    if (other.count == 0) return;
    minimumNs = count == 0 ? other.minimumNs : std::min(minimumNs, other.minimumNs);
    maximumNs = count == 0 ? other.maximumNs : std::max(maximumNs, other.maximumNs);
    count = saturatingSum(count, other.count);
    totalNs = saturatingSum(totalNs, other.totalNs);
    bytes = saturatingSum(bytes, other.bytes);
    untimedBytes = saturatingSum(untimedBytes, other.untimedBytes);
}

size_t SumTable::slotOf(SumKey key) const {
    const size_t mask = slots_.size() - 1;
    // Fibonacci hashing: keys of one kind are neighbours, and stay so.
    size_t slot = static_cast<size_t>(uint64_t{key.bits()} * 0x9e3779b97f4a7c15u >> shift_);
    while (slots_[slot].sums.count != 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
}

Sums& SumTable::at(SumKey key) {
    if (slots_.empty() || count_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[slotOf(key)];
    if (slot.sums.count == 0) {
        slot.key = key;
        ++count_;
    }
    return slot.sums;
}

void SumTable::grow() {
    std::vector<Slot> old(std::max(initialSlots, slots_.size() * 2));
    old.swap(slots_);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Slot& slot : old)
        if (slot.sums.count != 0) slots_[slotOf(slot.key)] = slot;
}

void SumTable::clear() {
    if (count_ == 0) return;
    // Frees a large table, which would be slow to scan for a few keys.
    if (slots_.size() > 64 * count_) slots_ = std::vector<Slot>();
    std::fill(slots_.begin(), slots_.end(), Slot());
    count_ = 0;
}

std::vector<std::pair<SumKey, Sums>> SumTable::sorted() const {
    std::vector<std::pair<SumKey, Sums>> all;
    all.reserve(count_);
    forEach([&all](SumKey key, const Sums& sums) { all.emplace_back(key, sums); });
    std::ranges::sort(all, {}, [](const auto& each) { return each.first; });
    return all;
}

SumKey sumKeyOf(const Trace& trace, const Lane& lane, uint32_t slice) {
    return keyOf(trace, lane.event[slice], lane.name[slice]);
}

Sums sumsOfSlice(const Trace& trace, const Lane& lane, uint32_t slice, TimeRange range) {
    const TimeRange whole{lane.startNs[slice], lane.endNs(slice)};
    const int64_t partNs = whole.intersected(range).durationNs();
    return sumsOf(partNs, shareOf(bytesOf(trace, lane.event[slice]).value_or(0), partNs, whole.durationNs()));
}

void sumSlices(const Trace& trace, const Lane& lane, uint32_t first, uint32_t end, SumTable& table) {
    constexpr uint32_t blockSize = 256;
    std::array<int64_t, blockSize> durationsNs;
    std::array<StringIndex, blockSize> names;
    std::array<EventRef, blockSize> events;
    for (uint32_t from = first; from < end; from += blockSize) {
        const uint32_t count = std::min(blockSize, end - from);
        lane.durationNs.copyTo(std::span(durationsNs).first(count), from);
        lane.name.copyTo(std::span(names).first(count), from);
        lane.event.copyTo(std::span(events).first(count), from);
        for (uint32_t index = 0; index < count; ++index)
            table.add(keyOf(trace, events[index], names[index]),
                      sumsOf(durationsNs[index], bytesOf(trace, events[index]).value_or(0)));
    }
}

bool needsSums(const Lane& lane) { return lane.size() > LaneSums::leafSize; }

LaneSums buildLaneSums(const Trace& trace, const Lane& lane, const std::stop_token& stop) {
    return LaneSummer(trace, lane).run(stop);
}

void sumSlices(const Trace& trace, const Lane& lane, const LaneSums& sums, uint32_t first, uint32_t end,
               SumTable& table) {
    if (first < end) RunSummer(trace, lane, sums, table).sum(first, end);
}

}  // namespace lanescope
