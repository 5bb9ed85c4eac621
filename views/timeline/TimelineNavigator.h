// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// How far the selection moves along a lane.
enum class SliceStep : uint8_t {
    Single,   ///< To the very next slice, however small it is.
    Visible,  ///< To the next one that is drawn apart from this one.
};

/// Moves the view and the selection of a timeline to events. Holds nothing itself. GUI thread.
class TimelineNavigator {
  public:
    explicit TimelineNavigator(TimelineState& state) : state_(state) {}

    /// Selects `event`, unfolds its tracks, scrolls to it, and zooms in if it would be too small to
    /// read or out if it would not fit.
    void reveal(EventRef event);
    /// Shows `range` with some room around it.
    void zoomTo(TimeRange range);
    /// The selected range, else the selected event, else everything.
    void zoomToSelection();
    void zoomToEvent();
    /// Selects the next (+1) or previous (-1) slice of the lane in a view of `width` pixels and
    /// pans to it. If the selected one is out of sight, `SliceStep::Visible` begins anew at the
    /// edge of what the lane shows. O(log slices).
    void selectNeighbour(int direction, SliceStep step, double width);
    /// Selects the first (-1) or last (+1) slice of the lane.
    void selectEndOfLane(int direction);
    /// Selects the nearest slice of the lane below (+1) or above (-1) that has any.
    void selectAdjacentLane(int direction);
    /// Selects the slice of `lane` nearest to `timeNs`; does nothing if the lane has none to
    /// select.
    void selectNearest(LanePosition lane, int64_t timeNs);

    /// Shows a stretch of time with room around it, at the row of a process.
    void showPlace(TimeRange range, uint32_t process);
    /// Reveals what the selected event caused (+1): the work that a call launched, the work that
    /// waited for this one in another stream; or what caused it (-1). Stays where there is nothing.
    void followFlow(int direction);

  private:
    /// Selects a slice and brings it into view without zooming.
    void select(LanePosition lane, uint32_t slice);
    void scrollTo(LanePosition lane);
    void panTo(TimeRange range);
    uint32_t nextVisible(LanePosition lane, uint32_t slice, int direction, double width) const;
    /// The slice in the middle of the view, if nothing is selected yet.
    void selectFirst();
    bool isSelectable(LanePosition lane) const;

    TimelineState& state_;
};

}  // namespace lanescope::views
