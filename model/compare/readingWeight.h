// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "model/trace/CounterSeries.h"

namespace lanescope::compare {

/// How much value number `sample` weighs in the mean over `range`: how often it was read there,
/// the readings that found it unchanged and were not kept included; for how long it held where
/// nobody says how often it was read. When between two readings a clock changed is not known, and
/// one that goes up with the first kernel would count as low up to the next reading. O(1).
inline double weightWithin(const CounterSeries& series, uint32_t sample, TimeRange range) {
    const TimeRange held = series.rangeOf(sample);
    if (series.intervalNs <= 0) return static_cast<double>(held.intersected(range).durationNs());
    const auto everyNs = static_cast<double>(series.intervalNs);
    const auto since = [&](int64_t ns) {
        return (static_cast<double>(ns) - static_cast<double>(held.startNs)) / everyNs;
    };
    // Readings have numbers from 0 on; the next value was the one that came next.
    const double first = std::max(1.0, std::ceil(since(range.startNs)));
    const double end = std::ceil(std::min(since(range.endNs), since(held.endNs) - 0.5));
    return (range.contains(held.startNs) ? 1 : 0) + std::max(0.0, end - first);
}

}  // namespace lanescope::compare
