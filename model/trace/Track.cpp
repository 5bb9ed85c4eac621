// SPDX-License-Identifier: Apache-2.0
#include "model/trace/Track.h"

#include <algorithm>
#include <array>

#include "model/trace/processes.h"

namespace lanescope {

namespace {

using Level = LaneTiles::Level;

/// Longest slice so far; the first of equal ones.
struct Widest {
    uint32_t at = 0;
    int64_t durationNs = -1;

    void take(uint32_t other, int64_t otherNs) {
        if (otherNs > durationNs) *this = {other, otherNs};
    }
};

void append(Level& level, const LaneEdge& edge) {
    level.slice.push_back(edge.slice);
    level.busyNs.push_back(edge.busyNs);
    level.overhangNs.push_back(edge.overhangNs);
}

/// Sets a bucket from its longest slice: number `at` of a lane, or bucket `at` of a level.
void append(Level& level, const auto& source, const Widest& widest) {
    level.longestNs.push_back(widest.durationNs);
    // In an empty bucket, repeating the previous values costs no space.
    const bool isEmpty = widest.durationNs < 0;
    const bool isFirst = level.name.empty();
    level.category.push_back(!isEmpty  ? source.category[widest.at]
                             : isFirst ? SliceCategory::Busy
                                       : level.category.back());
    level.name.push_back(!isEmpty ? source.name[widest.at] : isFirst ? 0 : level.name.back());
}

/// Returns the width that gives a bucket `slicesPerBucket` slices on average, or somewhat more. One
/// more level would take as much space as all others, and so few slices are searched quickly.
/// Short lanes have finer buckets, so that a picture of the whole lane reads no slices.
uint8_t finestShift(TimeRange lane, uint64_t sliceCount) {
    constexpr uint64_t minSlicesPerBucket = 2, pictureBuckets = 8192;
    uint8_t shift = 0;
    const uint64_t maxBuckets =
        std::max(std::min(sliceCount / minSlicesPerBucket, pictureBuckets), sliceCount / LaneTiles::slicesPerBucket);
    while (static_cast<uint64_t>((lane.endNs >> shift) - (lane.startNs >> shift)) >= maxBuckets) ++shift;
    return shift;
}

Level finestLevel(const Lane& lane, const std::stop_token& stop) {
    const uint32_t count = lane.size();
    const TimeRange range{lane.startNs.front(), std::max(lane.endNs(count - 1) - 1, lane.startNs.back())};
    Level level(lane.startNs.memory());
    level.shift = finestShift(range, count);
    level.firstBucket = range.startNs >> level.shift;
    const int64_t lastBucket = range.endNs >> level.shift;
    append(level, LaneEdge());
    uint32_t slice = 0;
    int64_t startNs = range.startNs;
    int64_t endNs = startNs;
    int64_t busyNs = 0;
    for (int64_t bucket = level.firstBucket; bucket <= lastBucket; ++bucket) {
        if (isStopped(stop, level.bucketCount())) break;
        Widest widest;
        while (slice < count && startNs >> level.shift == bucket) {
            const int64_t durationNs = lane.durationNs[slice];
            endNs = startNs + durationNs;
            busyNs += durationNs;
            widest.take(slice, durationNs);
            if (++slice < count) startNs = lane.startNs[slice];
        }
        append(level, lane, widest);
        // The right edge of the last bucket may exceed 64 bits; no slice extends over it.
        const int64_t overhangNs =
            bucket == lastBucket ? 0 : std::max<int64_t>(0, endNs - ((bucket + 1) << level.shift));
        append(level, LaneEdge{slice, busyNs - overhangNs, overhangNs});
    }
    return level;
}

Level coarserLevel(const Level& fine, const std::stop_token& stop) {
    Level level(fine.slice.memory());
    level.shift = static_cast<uint8_t>(fine.shift + 1);
    level.firstBucket = fine.firstBucket >> 1;
    const int64_t lastFine = fine.firstBucket + static_cast<int64_t>(fine.bucketCount()) - 1;
    const auto fineEdge = [&](int64_t edge) {
        const int64_t index = std::clamp<int64_t>(edge - fine.firstBucket, 0, lastFine + 1 - fine.firstBucket);
        const auto i = static_cast<size_t>(index);
        return LaneEdge{fine.slice[i], fine.busyNs[i], fine.overhangNs[i]};
    };
    append(level, LaneEdge());
    for (int64_t bucket = level.firstBucket; bucket <= lastFine >> 1; ++bucket) {
        if (isStopped(stop, level.bucketCount())) break;
        Widest widest;
        for (const int64_t each : {2 * bucket, 2 * bucket + 1}) {
            if (each < fine.firstBucket || each > lastFine) continue;
            const auto i = static_cast<size_t>(each - fine.firstBucket);
            widest.take(static_cast<uint32_t>(i), fine.longestNs[i]);
        }
        append(level, fine, widest);
        append(level, fineEdge(2 * bucket + 2));
    }
    return level;
}

LaneTiles::Runs runsOf(size_t count, auto durationOf, auto sliceOf, LargeMemory* memory, const std::stop_token& stop) {
    LaneTiles::Runs runs(memory);
    for (size_t first = 0; first < count; first += LaneTiles::runLength) {
        if (isStopped(stop, first)) break;
        Widest widest;
        for (size_t i = first; i < std::min(count, first + LaneTiles::runLength); ++i)
            widest.take(sliceOf(i), durationOf(i));
        runs.widest.push_back(widest.at);
        runs.longestNs.push_back(widest.durationNs);
    }
    return runs;
}

}  // namespace

const Level* LaneTiles::levelFor(int gridShift) const {
    if (levels.empty() || gridShift < levels.front().shift) return nullptr;
    const auto index = std::min(static_cast<size_t>(gridShift - levels.front().shift), levels.size() - 1);
    return &levels[index];
}

LaneTiles buildLaneTiles(const Lane& lane, const std::stop_token& stop) {
    LaneTiles tiles;
    if (lane.size() < LaneTiles::minSlices) return tiles;
    tiles.levels.push_back(finestLevel(lane, stop));
    while (tiles.levels.back().bucketCount() > LaneTiles::minBuckets)
        tiles.levels.push_back(coarserLevel(tiles.levels.back(), stop));

    if (stop.stop_requested()) return tiles;
    tiles.runs.push_back(runsOf(
        lane.size(), [&](size_t i) { return lane.durationNs[i]; }, [](size_t i) { return static_cast<uint32_t>(i); },
        lane.startNs.memory(), stop));
    while (tiles.runs.back().widest.size() > LaneTiles::runLength) {
        const LaneTiles::Runs& below = tiles.runs.back();
        tiles.runs.push_back(runsOf(
            below.widest.size(), [&](size_t i) { return below.longestNs[i]; },
            [&](size_t i) { return below.widest[i]; }, lane.startNs.memory(), stop));
    }
    return tiles;
}

uint32_t longestSlice(const Lane& lane, uint32_t first, uint32_t end) {
    Widest left{first, -1}, right{first, -1};
    const auto inspect = [&](Widest& side, size_t level, uint32_t from, uint32_t to) {
        for (uint32_t i = from; i < to; ++i) {
            if (level == 0) {
                side.take(i, lane.durationNs[i]);
                continue;
            }
            const LaneTiles::Runs& runs = lane.tiles->runs[level - 1];
            side.take(runs.widest[i], runs.longestNs[i]);
        }
    };
    // Reads slices outside of full runs singly, and full runs on the next level.
    size_t level = 0;
    std::vector<Widest> rights;
    while (level < lane.tiles->runs.size() && end - first > 2 * LaneTiles::runLength) {
        const uint32_t firstRun = (first + LaneTiles::runLength - 1) / LaneTiles::runLength;
        const uint32_t endRun = end / LaneTiles::runLength;
        inspect(left, level, first, firstRun * LaneTiles::runLength);
        right = {first, -1};
        inspect(right, level, endRun * LaneTiles::runLength, end);
        rights.push_back(right);
        first = firstRun;
        end = endRun;
        ++level;
    }
    inspect(left, level, first, end);
    for (; !rights.empty(); rights.pop_back()) left.take(rights.back().at, rights.back().durationNs);
    return left.at;
}

SliceCategory apiCategory(std::string_view apiName) {
    static constexpr std::array<std::string_view, 2> waits{"Synchronize", "WaitEvent"};
    static constexpr std::array<std::string_view, 1> launches{"Launch"};
    static constexpr std::array<std::string_view, 8> memory{"Memcpy", "Memset",    "Malloc",    "Free",
                                                            "cuMem",  "MemAdvise", "HostAlloc", "HostRegister"};
    if (containsAny(apiName, waits)) return SliceCategory::ApiSync;
    if (containsAny(apiName, launches)) return SliceCategory::ApiLaunch;
    if (containsAny(apiName, memory)) return SliceCategory::ApiMemory;
    return SliceCategory::ApiOther;
}

SliceCategory memcpyCategory(MemcpyKind kind) {
    switch (kind) {
        case MemcpyKind::HtoD:
        case MemcpyKind::HtoA:
        case MemcpyKind::UvmHtoD: return SliceCategory::MemcpyHtoD;
        case MemcpyKind::DtoH:
        case MemcpyKind::AtoH:
        case MemcpyKind::UvmDtoH: return SliceCategory::MemcpyDtoH;
        case MemcpyKind::DtoD:
        case MemcpyKind::AtoA:
        case MemcpyKind::AtoD:
        case MemcpyKind::DtoA:
        case MemcpyKind::UvmDtoD: return SliceCategory::MemcpyDtoD;
        case MemcpyKind::PtoP: return SliceCategory::MemcpyPtoP;
        case MemcpyKind::HtoH:
        case MemcpyKind::Unknown: break;
    }
    return SliceCategory::MemcpyOther;
}

}  // namespace lanescope
