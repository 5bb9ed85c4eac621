// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/format/TimeRange.h"
#include "model/trace/CounterSeries.h"

namespace lanescope {

/// What a counter of rates or shares amounts to in a stretch of time.
struct CounterIntegral {
    double amount = 0;    ///< Value times seconds: bytes of bytes a second, joules of watts.
    int64_t knownNs = 0;  ///< In which the value is known.
    int64_t wholeNs = 0;  ///< The stretch.
    double maximum = 0;   ///< Of the known values.
    /// The longest interval between two samples that counts, whether it reaches beyond the stretch
    /// or not; those in which the counter stood still left out.
    int64_t longestIntervalNs = 0;
    /// No value holds across either end, so nothing had to be shared out: for a counter that was
    /// cumulative, the amount is the difference of two readings.
    bool isExact = false;
    /// The counter was read too seldom to tell of this stretch, so nothing of it is known.
    bool isUnread = false;

    bool hasValue() const { return knownNs > 0; }
    bool isComplete() const { return knownNs == wholeNs && wholeNs > 0; }
    /// Of the known part.
    double mean() const { return knownNs > 0 ? amount * 1e9 / static_cast<double>(knownNs) : 0; }
};

/// Within an interval between two samples the value counts as even. Nothing is known (`isUnread`)
/// of a counter of rates or shares if such an interval is longer than `range`: what it holds says
/// nothing of the range. O(log n + samples in range).
CounterIntegral integralOf(const CounterSeries& series, TimeRange range);

/// Of a range for whose ends the counter was read on purpose, within `startReading` and
/// `endReading`: between the values of the two that are nearest to the ends, if the counter has
/// any that are within 10 ms of them or a fiftieth of the range; else as above. An empty reading is
/// none.
CounterIntegral integralBetween(const CounterSeries& series, TimeRange range,
                                TimeRange startReading, TimeRange endReading);

}  // namespace lanescope
