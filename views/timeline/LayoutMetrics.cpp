// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/LayoutMetrics.h"

#include <algorithm>

namespace lanescope::views {

LayoutMetrics LayoutMetrics::forText(int textHeight, RowHeight rowHeight) {
    LayoutMetrics metrics;
    metrics.rowHeight = rowHeight;
    metrics.laneHeight = std::max(20, textHeight + 4);
    if (rowHeight == RowHeight::Compact) {
        metrics.laneHeight = std::max(14, textHeight - 1);
        metrics.padding = 1;
        metrics.squeezedLaneHeight = 3;
        metrics.summaryHeight = 6;
        metrics.counterHeight = 2 * metrics.laneHeight;
    } else if (rowHeight == RowHeight::Tall) {
        metrics.laneHeight = metrics.laneHeight * 8 / 5;
        metrics.padding = 5;
        metrics.squeezedLaneHeight = 8;
        metrics.summaryHeight = 12;
        metrics.counterHeight = 88;
    }
    metrics.headerHeight = std::max(metrics.laneHeight, textHeight) + 2 * metrics.padding;
    return metrics;
}

}  // namespace lanescope::views
