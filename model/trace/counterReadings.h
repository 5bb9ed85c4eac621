// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/trace/CounterSeries.h"

namespace lanescope {

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

}  // namespace lanescope
