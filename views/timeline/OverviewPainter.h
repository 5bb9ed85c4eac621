#pragma once

#include <QSize>

#include "views/timeline/OverviewActivity.h"
#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope {

/// Paints the whole trace as two thin activity charts with the visible part left bright. Keeps the
/// charts for one width.
class OverviewPainter {
  public:
    void forget() { width_ = -1; }
    void paint(QPainter& painter, const TimelineState& state, QSize size);

  private:
    void update(const TimelineState& state, int width);

    OverviewActivity activity_;
    int width_ = -1;
    TimeRange range_;
};

}  // namespace lanescope
