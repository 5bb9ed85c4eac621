// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/CounterScale.h"

#include <algorithm>
#include <iterator>

namespace lanescope::views {
namespace {

/// What a lane of shares may reach to: the least of these that holds all its values, so that a GPU
/// that is never busy still shows when it is busier.
constexpr double roundPercents[] = {1, 2, 5, 10, 20, 50, 100};

/// Counters that stay above this share of their greatest value are never near 0.
constexpr double farFromZero = 0.25;

/// Least and greatest value of all of them in a range of each.
CounterColumn extremesOf(std::span<const ScaledCounter> counters, TimeRange ScaledCounter::*range) {
    CounterColumn all;
    for (const ScaledCounter& each : counters) {
        const CounterColumn own = each.series->extremesIn(each.*range);
        if (!own.hasValue) continue;
        all.minimum = all.hasValue ? std::min(all.minimum, own.minimum) : own.minimum;
        all.maximum = all.hasValue ? std::max(all.maximum, own.maximum) : own.maximum;
        all.hasValue = true;
    }
    return all;
}

}  // namespace

CounterScale scaleOf(std::span<const ScaledCounter> counters) {
    CounterScale scale;
    if (counters.empty()) return scale;
    const CounterUnit unit = counters.front().series->unit;
    CounterColumn all = extremesOf(counters, &ScaledCounter::visible);
    if (all.minimum == 0 && all.maximum == 0) all = extremesOf(counters, &ScaledCounter::whole);
    scale.least = std::min(0.0, all.minimum);
    scale.greatest = all.maximum;
    if (unit == CounterUnit::Percent && all.maximum <= 100) {
        const bool isFlat = all.maximum <= 0;
        scale.greatest = isFlat ? 100
                                : *std::lower_bound(std::begin(roundPercents),
                                                    std::end(roundPercents), all.maximum);
    }
    const bool mayBeginAbove = unit == CounterUnit::Celsius || unit == CounterUnit::Hertz;
    if (mayBeginAbove && all.minimum > farFromZero * all.maximum && all.maximum > all.minimum) {
        // A little below, so that the least value still is a line above the foot.
        scale.least = all.minimum - 0.1 * (all.maximum - all.minimum);
    }
    if (scale.greatest <= scale.least) scale.greatest = scale.least + 1;
    return scale;
}

}  // namespace lanescope::views
