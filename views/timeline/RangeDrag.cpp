// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/RangeDrag.h"

#include <algorithm>
#include <cstdlib>

namespace lanescope::views {
namespace {

/// The edge that is nearest to a moment so far.
struct NearestEdge {
    int64_t timeNs;
    int64_t bestNs = 0;
    int64_t distanceNs;

    void look(int64_t edgeNs) {
        const int64_t awayNs = std::abs(edgeNs - timeNs);
        if (awayNs > distanceNs || (isFound && awayNs == distanceNs)) return;
        bestNs = edgeNs;
        distanceNs = awayNs;
        isFound = true;
    }
    void look(const TimelineState& state, LanePosition lane) {
        const uint32_t count = state.sliceCount(lane);
        if (count == 0 || state.counterAt(lane)) return;
        // Slices stand in order and apart, so an edge is of the nearest one or of a neighbour.
        const uint32_t middle = state.nearestSlice(lane, timeNs);
        for (uint32_t slice = middle > 0 ? middle - 1 : 0; slice < count && slice <= middle + 1;
             ++slice) {
            const TimeRange range = state.sliceRange(lane, slice);
            look(range.startNs);
            look(range.endNs);
        }
    }
    bool isFound = false;
};

}  // namespace

bool RangeDrag::beginAtEdge(int64_t timeNs, int64_t toleranceNs) {
    if (!isAtEdge(state_, timeNs, toleranceNs)) return false;
    const TimeRange range = *state_.selectedRange();
    const bool isStart = std::abs(range.startNs - timeNs) < std::abs(range.endNs - timeNs);
    anchorNs_ = isStart ? range.endNs : range.startNs;
    return true;
}

void RangeDrag::moveTo(int64_t timeNs) {
    const TimeRange range{std::min(anchorNs_, timeNs), std::max(anchorNs_, timeNs)};
    state_.setSelectedRange(range.intersected(state_.limits()));
}

bool isAtEdge(const TimelineState& state, int64_t timeNs, int64_t toleranceNs) {
    const auto range = state.selectedRange();
    return range && std::min(std::abs(range->startNs - timeNs), std::abs(range->endNs - timeNs)) <=
                        toleranceNs;
}

int64_t snapped(const TimelineState& state, int64_t timeNs, int64_t toleranceNs,
                std::optional<LanePosition> lane) {
    if (!state.hasTracks()) return timeNs;
    NearestEdge nearest{timeNs, 0, toleranceNs};
    if (lane) nearest.look(state, *lane);
    if (nearest.isFound) return nearest.bestNs;
    for (const TimelineState::Band& band : state.bands(state.viewportHeight()))
        for (const LayoutRow& row : band.rows)
            for (int each = 0; each < row.laneCount; ++each)
                nearest.look(state, {row.track, static_cast<uint32_t>(each)});
    return nearest.isFound ? nearest.bestNs : timeNs;
}

}  // namespace lanescope::views
