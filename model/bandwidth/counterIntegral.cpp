// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/counterIntegral.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

/// A reading later than this, or than this part of its range, does not belong to its end: the
/// sampler had not begun, or the machine was busy.
constexpr int64_t maxDelayNs = 10'000'000, maxDelayDivisor = 50;

/// Returns the time of the counter's reading for `readingNs`: the nearest of the values within the reading. A reading
/// without a change has no sample of its own, and any time in it is equally good.
std::optional<int64_t> timeOfReading(const CounterSeries& series, int64_t readingNs, TimeRange reading) {
    if (reading.isEmpty() || series.isEmpty()) return std::nullopt;
    // The last value ends the series, and may have no sample there.
    const auto timeOf = [&](uint32_t sample) {
        return sample < series.size() ? series.timeNs(sample) : series.endNs();
    };
    const auto firstFrom = [&](int64_t timeNs) {
        uint32_t low = 0, high = series.size();
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (series.timeNs(middle) < timeNs)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    };
    const uint32_t next = firstFrom(readingNs);
    std::optional<int64_t> bestNs;
    for (const uint32_t sample : {next, next - 1}) {
        if (sample > series.size()) continue;  // Before the first.
        const int64_t timeNs = timeOf(sample);
        if (timeNs < reading.startNs || timeNs > reading.endNs) continue;
        if (!bestNs || std::abs(timeNs - readingNs) < std::abs(*bestNs - readingNs)) bestNs = timeNs;
    }
    if (bestNs) return bestNs;
    const uint32_t after = firstFrom(reading.startNs);
    const bool isStill = after > 0 && series.value(after - 1) == 0 && series.rangeOf(after - 1).endNs >= reading.endNs;
    return isStill ? std::optional(reading.startNs) : std::nullopt;
}

CounterIntegral sumOver(const CounterSeries& series, TimeRange range) {
    CounterIntegral result;
    result.wholeNs = std::max<int64_t>(0, range.durationNs());
    if (range.isEmpty() || series.isEmpty()) return result;
    const uint32_t first = firstInEffectAfter(series, range.startNs);
    long double sum = 0;
    result.isExact = first < series.size() && series.timeNs(first) == range.startNs;
    bool endsWithSample = false;
    for (uint32_t sample = first; sample < series.size(); ++sample) {
        if (series.timeNs(sample) >= range.endNs) break;
        const TimeRange held = series.rangeOf(sample);
        endsWithSample = held.endNs == range.endNs;
        const TimeRange part = held.intersected(range);
        const double value = series.value(sample);
        if (std::isnan(value) || part.isEmpty()) continue;
        result.maximum = result.hasValue() ? std::max(result.maximum, value) : value;
        result.knownNs += part.durationNs();
        if (value != 0) result.longestIntervalNs = std::max(result.longestIntervalNs, held.durationNs());
        sum += static_cast<long double>(value) * static_cast<long double>(part.durationNs());
    }
    result.isExact = result.isExact && endsWithSample && result.isComplete();
    result.amount = static_cast<double>(sum / 1e9L);
    return result;
}

}  // namespace

CounterIntegral integralOf(const CounterSeries& series, TimeRange range) {
    CounterIntegral all = sumOver(series, range);
    if (!isMean(series.unit) || all.longestIntervalNs <= range.durationNs()) return all;
    CounterIntegral unread;
    unread.wholeNs = all.wholeNs;
    unread.isUnread = true;
    return unread;
}

CounterIntegral integralBetween(const CounterSeries& series, TimeRange range, TimeRange startReading,
                                TimeRange endReading) {
    const int64_t toleranceNs = std::max(maxDelayNs, range.durationNs() / maxDelayDivisor);
    const auto isNear = [toleranceNs](std::optional<int64_t> timeNs, int64_t readingNs) {
        return timeNs && std::abs(*timeNs - readingNs) <= toleranceNs;
    };
    const std::optional<int64_t> startNs = timeOfReading(series, range.startNs, startReading);
    const std::optional<int64_t> endNs = timeOfReading(series, range.endNs, endReading);
    // One reading may have served both ends of a short range.
    if (!isNear(startNs, range.startNs) || !isNear(endNs, range.endNs) || *endNs <= *startNs)
        return integralOf(series, range);
    CounterIntegral result = sumOver(series, {*startNs, *endNs});
    result.isExact = result.isComplete();
    return result;
}

}  // namespace lanescope
