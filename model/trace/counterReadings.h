// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/CounterSeries.h"

namespace lanescope {

/// Counters of the two directions of one link or device, which share a track: the upper one (sent,
/// read) grows upwards, the lower one (received, written) downwards below it.
struct CounterPairs {
    std::vector<uint32_t> lowerOf;  ///< By counter; `noIndex` for all but upper ones.
    std::vector<uint32_t> upperOf;  ///< By counter; `noIndex` for all but lower ones.
};

/// O(n log n).
CounterPairs counterPairs(const std::vector<CounterSeries>& counters);
/// The same for one counter, of which it says `upperOf`. O(n).
uint32_t upperCounterOf(const std::vector<CounterSeries>& counters, uint32_t counter);

/// Whether values in this unit are means of what happened since the reading before, and so tell
/// nothing of less than that; others, such as a clock rate, are looked at for a moment.
bool isMean(CounterUnit unit);

/// A mean over longer than this is no value of a moment, and no peak.
inline constexpr int64_t longestOfMomentNs = 250'000'000;

/// Over how long value number `sample` is a mean (`CounterSeries::isMeanOfInterval`) that says
/// nothing of any moment of it; nothing for other values and for a counter that stood still. O(1).
std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample);

/// The same where `shownNs` are looked at: also of shorter readings, if one takes more than half of
/// that, as then the lane has no shape of its own.
std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample, int64_t shownNs);

/// Whether the counter had that value for a moment of `range`, and not only as a mean over long.
/// O(n).
bool isOfAMoment(const CounterSeries& counter, TimeRange range, double value);

/// The first value that holds beyond `timeNs`; `size()` if none does. O(log n).
uint32_t firstHeldAfter(const CounterSeries& counter, int64_t timeNs);

/// The median time from one reading to the next, or how often the counter was read on average if
/// that is less: the resolution of what is shown. 0 with fewer than two. O(n).
int64_t medianReadingNs(const CounterSeries& counter);

/// What the counter came to at most within a range: "peak 98.7 %"; "mean 13.3 % over 4.1 s" where
/// that is a mean over long; "unknown" without any value. O(n).
std::string greatestText(const CounterSeries& counter, TimeRange within);
/// The same for a place with little room: "98.7 %", "13.3 % over 4.1 s".
std::string shortGreatestText(const CounterSeries& counter, TimeRange within);

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
