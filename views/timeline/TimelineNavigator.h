#pragma once

#include "views/timeline/TimelineState.h"

namespace lanescope {

/// Moves the view and the selection of a timeline to events. Holds nothing itself. GUI thread.
class TimelineNavigator {
  public:
    explicit TimelineNavigator(TimelineState& state) : state_(state) {}

    /// Selects `event`, unfolds its tracks, scrolls to it, and zooms in if it would be too small to
    /// read or out if it would not fit.
    void reveal(EventRef event);
    /// Shows `range` with some room around it.
    void zoomTo(TimeRange range);
    /// The selected range, else the selected event.
    void zoomToSelection();
    /// Selects the next (+1) or previous (-1) slice of the lane.
    void selectNeighbour(int direction);
    /// Selects the nearest slice of the lane below (+1) or above (-1) that has any.
    void selectAdjacentLane(int direction);
    /// Selects the slice of `lane` nearest to `timeNs`; does nothing if the lane has none to
    /// select.
    void selectNearest(LanePosition lane, int64_t timeNs);

  private:
    /// Selects a slice and brings it into view without zooming.
    void select(LanePosition lane, uint32_t slice);
    void scrollTo(LanePosition lane);
    void panTo(TimeRange range);
    /// The slice in the middle of the view, if nothing is selected yet.
    void selectFirst();
    bool isSelectable(LanePosition lane) const;

    TimelineState& state_;
};

}  // namespace lanescope
