// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QString>
#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"

namespace lanescope::views {

constexpr double leastPixelsPerLabel = 96;

struct TimeTick {
    int64_t timeNs = 0;
    bool isMajor = false;
    QString label;  ///< Major ticks only: "12.5 ms", or "+12.5 us" past `TimeTicks::anchorNs`.
};

/// The marks of a ruler.
struct TimeTicks {
    int64_t stepNs = 1;  ///< Between major ticks: 1, 2 or 5 times a power of ten.
    bool hasAnchor =
        false;  ///< Labels count from `anchorNs`, because whole times would be too long.
    int64_t anchorNs = 0;
    QString anchorLabel;          ///< "1.234 5 s"; empty without an anchor.
    std::vector<TimeTick> ticks;  ///< By time; minor and major ones.
};

/// How far apart major ticks are at least, in pixels, so that their labels do not touch.
double pixelsPerLabel(const QFontMetrics& metrics);

/// Ticks for `range` over `pixelWidth` pixels, major ones at least `pixelsPerLabel` apart.
/// O(ticks).
TimeTicks timeTicks(TimeRange range, double pixelWidth,
                    double pixelsPerLabel = leastPixelsPerLabel);

/// A point in time with all its digits and one unit, digits grouped by three: "1.234 567 s".
QString formatTime(int64_t timeNs);

}  // namespace lanescope::views
