// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

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

}  // namespace lanescope::views
