// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>

#include "views/timeline/OverviewActivity.h"
#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope::views {

/// Paints the whole trace as two thin activity charts with the visible part left bright: GPUs above
/// and CPUs below, or with a companion the GPUs of both traces. Keeps the charts for one width.
class OverviewPainter {
  public:
    void forget() { width_ = -1; }
    void paint(QPainter& painter, const TimelineState& state, QSize size,
               const TimelineState* companion = nullptr);

    /// Of `paint` what stays as it is while one moves about, selects and searches.
    void paintCharts(QPainter& painter, const TimelineState& state, QSize size,
                     const TimelineState* companion);
    /// And the rest, over it.
    static void paintMarks(QPainter& painter, const TimelineState& state, QSize size);

  private:
    void update(const TimelineState& state, int width, const TimelineState* companion);

    OverviewActivity activity_;
    OverviewActivity companionActivity_;
    TimeRange companionRange_;
    int width_ = -1;
    TimeRange range_;
};

}  // namespace lanescope::views
