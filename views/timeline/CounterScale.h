// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "model/format/TimeRange.h"
#include "model/trace/CounterSeries.h"

namespace lanescope::views {

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
