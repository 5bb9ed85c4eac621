// SPDX-License-Identifier: Apache-2.0
#include "model/lod/traceSums.h"

#include <algorithm>
#include <vector>

#include "model/lod/SumTable.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/tasks.h"

namespace lanescope {

SliceRun slicesIn(const Lane& lane, TimeRange range) {
    if (range.isEmpty()) return {};
    uint32_t first = lane.firstEndingAt(range.startNs);
    // A slice that ends at the start of the range is outside, unless its duration is zero.
    while (first < lane.size() && lane.endNs(first) == range.startNs && lane.startNs[first] < range.startNs) ++first;
    const auto to = std::lower_bound(lane.startNs.begin(), lane.startNs.end(), range.endNs);
    return {first, std::max(first, static_cast<uint32_t>(to - lane.startNs.begin()))};
}

int64_t busyTime(const Lane& lane, TimeRange range) {
    const SliceRun run = slicesIn(lane, range);
    if (run.isEmpty()) return 0;
    const int64_t beforeNs = std::max<int64_t>(0, range.startNs - lane.startNs[run.first]);
    const int64_t afterNs = std::max<int64_t>(0, lane.endNs(run.end - 1) - range.endNs);
    return lane.busyBefore(run.end) - lane.busyBefore(run.first) - beforeNs - afterNs;
}

namespace {

/// Iterates over the slices of several lanes by start.
class MergedSlices {
  public:
    /// Begins at the first slice of each lane that ends after `fromNs`.
    MergedSlices(std::span<const Lane> lanes, int64_t fromNs) : lanes_(lanes) {
        for (const Lane& lane : lanes) next_.push_back(firstEndingAfter(lane, fromNs));
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
    static uint32_t firstEndingAfter(const Lane& lane, int64_t timeNs) { return lane.firstEndingAt(timeNs + 1); }

    std::span<const Lane> lanes_;
    std::vector<uint32_t> next_;
};

/// Returns the busy time of all lanes before `timeNs`.
int64_t busyBefore(std::span<const Lane> lanes, const UnionSums& sums, int64_t timeNs) {
    const auto after = std::upper_bound(sums.timeNs.begin(), sums.timeNs.end(), timeNs);
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

}  // namespace

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

}  // namespace lanescope
