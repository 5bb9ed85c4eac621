// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include "model/trace/CounterSeries.h"

namespace lanescope {

/// What the numbers of a sampler mean. The numbers are the file's (`LANESCOPE_COUNTERS`).
enum class CounterMeaning : uint8_t {
    Gauge = 0,       ///< Holds from its time on.
    Cumulative = 1,  ///< Ever growing; only differences say something.
    Average = 2,     ///< Over the interval that ends at its time.
    Amount = 3,      ///< Within the interval that ends at its time.
};

/// A counter as it was sampled.
struct CounterSamples {
    CounterMeaning meaning = CounterMeaning::Gauge;
    CounterUnit unit = CounterUnit::Count;
    int wrapBits = 0;  ///< Of a cumulative counter that starts again at 2^wrapBits; 0 if unknown.
    int64_t intervalNs = 0;           ///< How often it was read; 0 if unknown.
    LargeVector<int64_t> timesNs;     ///< In any order; of equal times the last counts.
    LargeVector<long double> values;  ///< Exact to 2^63; what is not a number is unknown.
};

/// A counter as it is shown: each value holds until the time of the next.
struct CounterValues {
    CounterUnit unit = CounterUnit::Count;
    LargeVector<int64_t> timesNs;
    LargeVector<double> values;
    int64_t endNs = 0;
    int64_t wrapCount = 0;   ///< Times that a cumulative counter passed its end and went on.
    int64_t resetCount = 0;  ///< Times that it went backwards, so that an interval is unknown.
};

/// Gauges stay as they are. The last one holds until it would have been read again, or as long as
/// samples usually are apart; one that says that nothing more is known ends the counter.
/// Cumulative counters and amounts become rates, averages begin where their interval begins; bytes
/// become bytes a second, joules become watts. An interval whose beginning or end is unknown, and
/// one in which a cumulative counter went backwards without having reached its end, is unknown: a
/// rate is never negative nor infinite. O(n), O(n log n) if the samples are not in order. Works
/// where the samples lie.
CounterValues counterValues(CounterSamples samples);

/// Samples of which `counterValues` makes the values of the series again, for files: means over
/// their intervals, or gauges. A gauge that does not end when it would have been read again, as
/// one that was cut, gets one more sample, which is not known, for its end. O(n).
CounterSamples samplesOf(const CounterSeries& series);

}  // namespace lanescope
