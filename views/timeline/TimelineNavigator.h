// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The step of the selection along a lane.
enum class SliceStep : uint8_t {
    Single,   ///< To the very next slice, of any size.
    Visible,  ///< To the next one drawn separately.
};

/// Moves the view and the selection of a timeline to events. Stateless. GUI thread.
class TimelineNavigator {
  public:
    explicit TimelineNavigator(TimelineState& state) : state_(state) {}

    /// Selects `event`, unfolds its tracks and scrolls to it. Zooms in if it would be too small to
    /// read, or out if it would not fit.
    void reveal(EventRef event);
    /// Zooms to the selected range, else the selected event, else everything.
    void zoomToSelection();
    void zoomToEvent();
    /// Unfolds `track`, scrolls it to the top, as far as the rows below allow, and makes it the current one.
    void scrollToTrack(uint32_t track);
    /// Pans so that a time is in the middle, and marks it on the ruler.
    void showTime(int64_t timeNs);
    /// Selects the next (+1) or previous (-1) slice of the lane in a view of `width` pixels and pans to it. If the
    /// selected one is not visible, `SliceStep::Visible` starts at the edge of the view. O(log slices).
    void selectNeighbour(int direction, SliceStep step, double width);
    /// Selects the first (-1) or last (+1) slice of the lane.
    void selectEndOfLane(int direction);
    /// Selects the nearest slice of the next non-empty lane below (+1) or above (-1).
    void selectAdjacentLane(int direction);
    /// Selects the slice of `lane` nearest to `timeNs`; does nothing if the lane has no selectable slice.
    void selectNearest(LanePosition lane, int64_t timeNs);

    /// Shows a time range with a margin, at the row of a process.
    void showPlace(TimeRange range, uint32_t process);
    /// Reveals the effect of the selected event (+1): the work launched by a call, or the work in
    /// another stream that waited for it; or its cause (-1). Does nothing without one.
    void followFlow(int direction);

  private:
    /// Selects a slice and makes it visible without zooming.
    void select(LanePosition lane, uint32_t slice);
    void scrollTo(LanePosition lane);
    void panTo(TimeRange range);
    uint32_t nextVisible(LanePosition lane, uint32_t slice, int direction, double width) const;
    /// Selects the slice in the middle of the view if nothing is selected yet.
    void selectFirst();
    bool isSelectable(LanePosition lane) const;

    TimelineState& state_;
};

}  // namespace lanescope::views
