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

/// Maps a stretch of time to the pixels `[left, left + width)` and back. Plain arithmetic, nothing
/// is clamped; a scale of no width or no duration maps everything to its left edge or its start.
struct TimeScale {
    TimeRange range;
    double width = 0;
    double left = 0;

    double nsPerPixel() const {
        return width > 0 ? static_cast<double>(range.durationNs()) / width : 0.0;
    }
    double toX(int64_t timeNs) const {
        if (range.isEmpty()) return left;
        // The difference first: it is exact, and small enough to stay so as a double.
        return left + static_cast<double>(timeNs - range.startNs) * width /
                          static_cast<double>(range.durationNs());
    }
    int64_t toTimeNs(double x) const {
        return range.startNs + static_cast<int64_t>(std::floor((x - left) * nsPerPixel()));
    }
    /// How long `pixels` are.
    int64_t spanNs(double pixels) const { return std::llround(pixels * nsPerPixel()); }
};

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

/// The values at the bottom and the top of a counter's graph. From 0 for what is there in some
/// amount; from its least value for what is never near 0, such as a temperature or a clock, in
/// which the changes are what one looks at.
struct CounterScale {
    double least = 0;
    double greatest = 1;
    bool operator==(const CounterScale&) const = default;
};

/// A counter and the part of it that is on the screen: what it came to elsewhere would only press
/// that part flat.
struct ScaledCounter {
    const CounterSeries* series = nullptr;
    TimeRange visible;
    /// All that can be looked at. Where nothing is on the screen but zeros, that is the scale.
    TimeRange whole = {};
};

/// One scale for all of them, so that what is drawn higher is more: both directions of a link, the
/// same lane of two runs. They must be in one unit. O(counters * log n).
CounterScale scaleOf(std::span<const ScaledCounter> counters);

}  // namespace lanescope::views
