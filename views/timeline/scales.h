// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QString>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/CounterSeries.h"

namespace lanescope::views {

/// A mapping of a time range to the pixels `[left, left + width)` and back, without clamping. A
/// scale of no width or no duration maps everything to its left edge or its start.
struct TimeScale {
    TimeRange range;
    double width = 0;
    double left = 0;

    double nsPerPixel() const { return width > 0 ? static_cast<double>(range.durationNs()) / width : 0.0; }
    double toX(int64_t timeNs) const {
        if (range.isEmpty()) return left;
        // The difference first: it is exact, and small enough to stay exact as a double.
        return left + static_cast<double>(timeNs - range.startNs) * width / static_cast<double>(range.durationNs());
    }
    int64_t toTimeNs(double x) const {
        return range.startNs + static_cast<int64_t>(std::floor((x - left) * nsPerPixel()));
    }
    /// Returns the duration of `pixels`.
    int64_t spanNs(double pixels) const { return std::llround(pixels * nsPerPixel()); }
};

constexpr double minPixelsPerLabel = 96;

struct TimeTick {
    int64_t timeNs = 0;
    bool isMajor = false;
    QString label = {};  ///< Major ticks only: "12.5 ms", or "+12.5 us" past `TimeTicks::anchorNs`.
};

struct TimeTicks {
    int64_t stepNs = 1;      ///< Between major ticks: 1, 2 or 5 times a power of ten.
    bool hasAnchor = false;  ///< Labels count from `anchorNs`, because whole times would be too long.
    int64_t anchorNs = 0;
    QString anchorLabel;          ///< "1.234 5 s"; empty without an anchor.
    std::vector<TimeTick> ticks;  ///< By time; minor and major ones.
};

/// Returns the min distance of major ticks in pixels, so that their labels do not touch.
double pixelsPerLabel(const QFontMetrics& metrics);

/// Returns ticks for `range` over `pixelWidth` pixels, major ones spaced by `pixelsPerLabel` or more. O(ticks).
TimeTicks timeTicks(TimeRange range, double pixelWidth, double pixelsPerLabel = minPixelsPerLabel);

/// Returns a time with all its digits and one unit, digits grouped by three: "1.234 567 s".
QString formatTime(int64_t timeNs);

/// The values at the bottom and the top of a counter's graph. Starts at 0 for amounts. Starts at the minimum for
/// quantities never near 0, such as a temperature or a clock, where the changes matter.
struct CounterScale {
    double minValue = 0;
    double maxValue = 1;
    bool operator==(const CounterScale&) const = default;
};

/// A counter and its visible part: values elsewhere would only flatten this part.
struct ScaledCounter {
    const CounterSeries* series = nullptr;
    TimeRange visible;
    /// The whole viewable range. Defines the scale if the visible part contains only zeros.
    TimeRange whole = {};
};

/// Returns one scale for all counters, so that a higher line is a higher value: both directions of
/// a link, the same lane of two runs. They must have one unit. O(counters * log n).
CounterScale scaleOf(std::span<const ScaledCounter> counters);

}  // namespace lanescope::views
