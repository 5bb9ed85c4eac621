// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineNavigator.h"

#include <algorithm>

#include "model/numbers/groups.h"
#include "model/trace/kinds/flows.h"

namespace lanescope::views {
namespace {

// Min share of the view for a revealed slice; also its share after zooming.
constexpr double minRevealedShare = 0.02;
constexpr double revealedShare = 0.2;
constexpr double minPlaceShare = 0.05;  // of the trace, around a place without a length

int64_t middleOf(TimeRange range) { return range.startNs + range.durationNs() / 2; }

}  // namespace

void TimelineNavigator::reveal(EventRef event) {
    if (!state_.trace()) return;
    state_.selection().setEvent(event);
    const SliceLocation at = state_.trace()->locate(event);
    if (!at.isValid()) return;
    state_.tracks().reveal(at.track);
    scrollTo({at.track, at.lane});
    const TimeRange range = state_.trace()->rangeOf(event);
    const double share = double(range.durationNs()) / double(state_.range().visible().durationNs());
    if (share < minRevealedShare || share > 1) {
        state_.range().setVisible(withMargins(range, revealedShare));
    } else {
        panTo(range);
    }
}

void TimelineNavigator::zoomToSelection() {
    if (state_.selection().range()) {
        state_.range().zoomTo(*state_.selection().range());
    } else if (state_.trace() && state_.selection().event().isValid()) {
        state_.range().zoomTo(state_.trace()->rangeOf(state_.selection().event()));
    } else {
        state_.range().axis().fit();
    }
}

void TimelineNavigator::zoomToEvent() {
    if (!state_.trace() || !state_.selection().event().isValid()) return;
    const SliceLocation at = state_.trace()->locate(state_.selection().event());
    if (at.isValid()) {
        state_.tracks().reveal(at.track);
        scrollTo({at.track, at.lane});
    }
    state_.range().zoomTo(state_.trace()->rangeOf(state_.selection().event()));
}

void TimelineNavigator::scrollToTrack(uint32_t track) {
    state_.tracks().reveal(track);
    if (const LayoutRow* row = state_.tracks().layout().rowOf(track))
        state_.scroll().setY(row->top - state_.scroll().pinnedHeight());
    state_.tracks().setCurrent(track);
}

void TimelineNavigator::showTime(int64_t timeNs) {
    const TimeRange visible = state_.range().visible();
    state_.range().setVisible(visible.shifted(timeNs - middleOf(visible)));
    state_.selection().setHoverTime(timeNs);
}

void TimelineNavigator::selectNeighbour(int direction, SliceStep step, double width) {
    if (!state_.hasTracks()) return;
    const SliceLocation at = state_.trace()->locate(state_.selection().event());
    if (!at.isValid()) return selectFirst();
    const LanePosition lane{at.track, at.lane};
    if (step == SliceStep::Visible) return select(lane, nextVisible(lane, at.slice, direction, width));
    const int64_t next = int64_t{at.slice} + direction;
    if (next >= 0 && next < int64_t{state_.lanes().sliceCount(lane)}) select(lane, static_cast<uint32_t>(next));
}

uint32_t TimelineNavigator::nextVisible(LanePosition lane, uint32_t slice, int direction, double width) const {
    const uint32_t count = state_.lanes().sliceCount(lane);
    const TimeRange visible = state_.range().visible();
    const TimeRange from = state_.lanes().sliceRange(lane, slice);
    /// Returns the first slice that begins at or after a time; `count` if there is none.
    const auto firstFrom = [&](int64_t timeNs) {
        return firstNotBefore(0u, count,
                              [&](uint32_t each) { return state_.lanes().sliceRange(lane, each).startNs < timeNs; });
    };
    if (!from.overlaps(visible)) {
        const uint32_t after = firstFrom(visible.startNs);
        const uint32_t end = firstFrom(visible.endNs);
        if (after < end) return direction > 0 ? after : end - 1;
    }
    const auto pixelNs = static_cast<int64_t>(state_.range().scale(width).nsPerPixel());
    if (direction > 0) {
        const uint32_t next = std::max(slice + 1, firstFrom(from.startNs + pixelNs));
        return std::min(next, count - 1);
    }
    const uint32_t next = std::min(slice, firstFrom(from.startNs - pixelNs + 1));
    return next > 0 ? next - 1 : 0;
}

void TimelineNavigator::selectEndOfLane(int direction) {
    if (!state_.hasTracks()) return;
    const SliceLocation at = state_.trace()->locate(state_.selection().event());
    if (!at.isValid()) return selectFirst();
    const LanePosition lane{at.track, at.lane};
    select(lane, direction < 0 ? 0 : state_.lanes().sliceCount(lane) - 1);
}

void TimelineNavigator::showPlace(TimeRange range, uint32_t process) {
    if (!state_.hasTracks()) return;
    const auto& tracks = state_.trace()->tracks;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
        if (tracks[track].kind != TrackKind::Process || tracks[track].subject != process) continue;
        state_.tracks().reveal(track);
        scrollTo({track, 0});
        break;
    }
    const auto minDurationNs = static_cast<int64_t>(double(state_.range().limits().durationNs()) * minPlaceShare);
    const TimeRange shown = withMargins(range, revealedShare);
    state_.range().setVisible(shown.durationNs() >= minDurationNs ? shown
                                                                  : TimeRange{middleOf(range) - minDurationNs / 2,
                                                                              middleOf(range) + minDurationNs / 2});
}

void TimelineNavigator::followFlow(int direction) {
    if (!state_.trace()) return;
    const EventRef from = state_.selection().event();
    const std::vector<EventRef> next =
        direction > 0 ? causedBy(*state_.trace(), from) : causesOf(*state_.trace(), from);
    if (!next.empty()) reveal(next.front());
}

void TimelineNavigator::selectAdjacentLane(int direction) {
    if (!state_.hasTracks()) return;
    const SliceLocation at = state_.trace()->locate(state_.selection().event());
    const LayoutRow* row = at.isValid() ? state_.tracks().layout().visibleRowOf(at.track) : nullptr;
    if (!row) return selectFirst();
    const int64_t timeNs = middleOf(state_.trace()->rangeOf(state_.selection().event()));
    const auto& rows = state_.tracks().layout().rows();
    auto rowIndex = row - rows.data();
    // From a lane that is drawn in the row of its folded group, to the lanes of other rows.
    int64_t lane = row->track == at.track ? int64_t{at.lane} + direction : direction > 0 ? row->laneCount : -1;
    for (;;) {
        while (lane < 0 || lane >= rows[rowIndex].laneCount) {
            rowIndex += direction;
            if (rowIndex < 0 || rowIndex >= std::ssize(rows)) return;
            lane = direction > 0 ? 0 : rows[rowIndex].laneCount - 1;
        }
        const LanePosition position{rows[rowIndex].track, static_cast<uint32_t>(lane)};
        if (isSelectable(position)) return select(position, state_.lanes().nearestSlice(position, timeNs));
        lane += direction;
    }
}

void TimelineNavigator::selectNearest(LanePosition lane, int64_t timeNs) {
    if (isSelectable(lane)) select(lane, state_.lanes().nearestSlice(lane, timeNs));
}

void TimelineNavigator::select(LanePosition lane, uint32_t slice) {
    state_.selection().setEvent(state_.lanes().sliceEvent(lane, slice));
    scrollTo(lane);
    panTo(state_.lanes().sliceRange(lane, slice));
}

void TimelineNavigator::scrollTo(LanePosition lane) {
    const LayoutRow* row = state_.tracks().layout().visibleRowOf(lane.track);
    if (!row || row->top < state_.scroll().pinnedHeight()) return;
    const auto area = state_.tracks().layout().areaOf(lane);
    const int top = (area ? area->top : row->top) - state_.tracks().layout().metrics().padding;
    const int bottom = top + (area ? area->height : row->height) + 2 * state_.tracks().layout().metrics().padding;
    const int height = state_.scroll().viewportHeight();
    const int pinned = state_.scroll().pinnedHeight();
    if (top < state_.scroll().y() + pinned) {
        state_.scroll().setY(std::min(row->top, top) - pinned);
    } else if (bottom > state_.scroll().y() + height) {
        state_.scroll().setY(std::min(top, bottom - height));
    }
}

void TimelineNavigator::panTo(TimeRange range) {
    const TimeRange visible = state_.range().visible();
    const bool fits = range.durationNs() <= visible.durationNs();
    const bool isInside = range.startNs >= visible.startNs && range.endNs <= visible.endNs;
    if (isInside || (!fits && range.overlaps(visible))) return;
    state_.range().setVisible(visible.shifted(middleOf(range) - middleOf(visible)));
}

void TimelineNavigator::selectFirst() {
    for (const TrackScroll::Band& band : state_.scroll().bands(state_.scroll().viewportHeight())) {
        for (const LayoutRow& row : band.rows) {
            const LanePosition lane{row.track, 0};
            if (row.laneCount == 0 || !isSelectable(lane)) continue;
            return select(lane, state_.lanes().nearestSlice(lane, middleOf(state_.range().visible())));
        }
    }
}

bool TimelineNavigator::isSelectable(LanePosition position) const {
    return state_.lanes().sliceCount(position) > 0 && state_.lanes().sliceEvent(position, 0).isValid();
}

}  // namespace lanescope::views
