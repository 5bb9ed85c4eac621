#pragma once

#include <cstdint>

#include "views/timeline/TimelineState.h"

class QWheelEvent;

namespace lanescope {

/// What every part with a time axis does with the wheel: zoom at the pointer, pan with Shift or a
/// horizontal wheel. `scale` is that part's own axis.
void zoomOrPan(const QWheelEvent& event, TimelineState& state, const TimeScale& scale);

/// Marks a range of time while the mouse is dragged along an axis.
class RangeDrag {
  public:
    explicit RangeDrag(TimelineState& state) : state_(state) {}
    void begin(int64_t timeNs) { anchorNs_ = timeNs; }
    void moveTo(int64_t timeNs);

  private:
    TimelineState& state_;
    int64_t anchorNs_ = 0;
};

/// How far the pointer may tremble and still click.
inline constexpr int clickTolerance = 4;

}  // namespace lanescope
