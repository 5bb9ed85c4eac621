// SPDX-License-Identifier: Apache-2.0
#include "model/trace/counterReadings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/values/Statistics.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

bool isOfReadings(const CounterSeries& counter) {
    return counter.isMeanOfInterval && isMean(counter.unit);
}

/// The greatest value and over how long it is a mean; the shortest of equal ones.
struct Greatest {
    double value = 0;
    std::optional<int64_t> overNs;
};

Greatest greatestOf(const CounterSeries& counter, TimeRange within) {
    Greatest greatest{counter.extremesIn(within).maximum, std::nullopt};
    bool isFirst = true;
    if (!isOfReadings(counter)) return greatest;
    for (uint32_t sample = 0; sample < counter.size(); ++sample) {
        if (counter.value(sample) != greatest.value || !counter.rangeOf(sample).overlaps(within))
            continue;
        const std::optional<int64_t> overNs = meanOver(counter, sample);
        if (isFirst || overNs.value_or(0) < greatest.overNs.value_or(0)) greatest.overNs = overNs;
        isFirst = false;
        if (!greatest.overNs) break;
    }
    return greatest;
}

}  // namespace

bool isMean(CounterUnit unit) {
    switch (unit) {
        case CounterUnit::BytesPerSecond:
        case CounterUnit::Percent:
        case CounterUnit::Watts:
            return true;
        case CounterUnit::Count:
        case CounterUnit::Bytes:
        case CounterUnit::Celsius:
        case CounterUnit::Hertz:
        case CounterUnit::Joules:
        case CounterUnit::Flags:
            break;
    }
    return false;
}

std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample, int64_t shownNs) {
    const int64_t heldNs = counter.rangeOf(sample).durationNs();
    const bool isLong = heldNs > longestOfMomentNs || heldNs > shownNs / 2;
    // Nothing at all is nothing at every moment.
    const double value = counter.value(sample);
    if (!isOfReadings(counter) || !isLong || value == 0 || std::isnan(value)) return std::nullopt;
    return heldNs;
}

std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample) {
    return meanOver(counter, sample, std::numeric_limits<int64_t>::max());
}

bool isOfAMoment(const CounterSeries& counter, TimeRange range, double value) {
    for (uint32_t sample = 0; sample < counter.size(); ++sample)
        if (counter.value(sample) == value && counter.rangeOf(sample).overlaps(range) &&
            !meanOver(counter, sample))
            return true;
    return false;
}

uint32_t firstHeldAfter(const CounterSeries& counter, int64_t timeNs) {
    uint32_t low = 0, high = counter.size();
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (counter.rangeOf(middle).endNs <= timeNs)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t medianReadingNs(const CounterSeries& counter) {
    std::vector<int64_t> heldNs;
    for (uint32_t sample = 0; counter.size() > 1 && sample < counter.size(); ++sample)
        heldNs.push_back(counter.rangeOf(sample).durationNs());
    const auto medianNs = static_cast<int64_t>(medianOf(heldNs));
    // Of equal values in a row not all may be kept.
    return counter.intervalNs > 0 && medianNs > 0 ? std::min(medianNs, counter.intervalNs)
                                                  : medianNs;
}

std::string shortGreatestText(const CounterSeries& counter, TimeRange within) {
    if (!counter.extremesIn(within).hasValue) return "unknown";
    const Greatest greatest = greatestOf(counter, within);
    const std::string value = formatCounter(greatest.value, counter.unit);
    return greatest.overNs ? fmt::format("{} over {}", value, formatDuration(*greatest.overNs))
                           : value;
}

std::string greatestText(const CounterSeries& counter, TimeRange within) {
    if (!counter.extremesIn(within).hasValue) return "unknown";
    return (greatestOf(counter, within).overNs ? "mean " : "peak ") +
           shortGreatestText(counter, within);
}

}  // namespace lanescope
