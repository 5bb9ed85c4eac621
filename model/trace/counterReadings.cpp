// SPDX-License-Identifier: Apache-2.0
#include "model/trace/counterReadings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// Suffixes of the keys of both directions, the upper one first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> directions{
    {{".tx", ".rx"}, {".read", ".write"}}};

bool endsWith(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool areOfOneSubject(const CounterSeries& a, const CounterSeries& b) {
    return a.source == b.source && a.device == b.device && a.unit == b.unit && a.gpu == b.gpu &&
           a.process == b.process && a.link == b.link && a.core == b.core;
}

}  // namespace

CounterPairs counterPairs(const std::vector<CounterSeries>& counters) {
    struct Pair {
        uint32_t upper = noIndex, lower = noIndex;
    };
    // Upper counters by sampler and by link or device; the key is that of the upper one.
    std::map<std::tuple<std::string, std::string, std::string, CounterUnit, uint32_t, uint32_t, int32_t, int32_t>, Pair>
        places;
    for (uint32_t counter = 0; counter < counters.size(); ++counter) {
        const CounterSeries& each = counters[counter];
        for (const auto& [upper, lower] : directions) {
            const bool isUpper = endsWith(each.key, upper);
            if (!isUpper && !endsWith(each.key, lower)) continue;
            const size_t length = each.key.size() - (isUpper ? upper : lower).size();
            Pair& pair = places[{each.key.substr(0, length).append(upper), each.source, each.device, each.unit,
                                 each.gpu, each.process, each.link, each.core}];
            uint32_t& place = isUpper ? pair.upper : pair.lower;
            // A corrupt file may have a direction twice; further ones get their own tracks.
            if (place == noIndex) place = counter;
        }
    }
    CounterPairs pairs;
    pairs.lowerOf.assign(counters.size(), noIndex);
    pairs.upperOf.assign(counters.size(), noIndex);
    for (const auto& [key, pair] : places) {
        if (pair.upper == noIndex || pair.lower == noIndex) continue;
        pairs.lowerOf[pair.upper] = pair.lower;
        pairs.upperOf[pair.lower] = pair.upper;
    }
    return pairs;
}

uint32_t upperCounterOf(const std::vector<CounterSeries>& counters, uint32_t counter) {
    const CounterSeries& own = counters[counter];
    const auto first = [&](std::string_view stem, std::string_view direction) {
        for (uint32_t index = 0; index < counters.size(); ++index) {
            const std::string_view key = counters[index].key;
            if (key.size() == stem.size() + direction.size() && key.starts_with(stem) && endsWith(key, direction) &&
                areOfOneSubject(counters[index], own))
                return index;
        }
        return noIndex;
    };
    for (const auto& [upper, lower] : directions) {
        if (!endsWith(own.key, lower)) continue;
        const std::string_view stem(own.key.data(), own.key.size() - lower.size());
        if (first(stem, lower) == counter) return first(stem, upper);
    }
    return noIndex;
}

namespace {

bool isOfReadings(const CounterSeries& counter) { return counter.isMeanOfInterval && isMean(counter.unit); }

/// Maximum, and the interval over which it is a mean; the shortest of equal ones.
struct Peak {
    double value = 0;
    std::optional<int64_t> overNs;
};

Peak peakOf(const CounterSeries& counter, TimeRange within) {
    Peak peak{counter.extremesIn(within).maximum, std::nullopt};
    bool isFirst = true;
    if (!isOfReadings(counter)) return peak;
    for (uint32_t sample = 0; sample < counter.size(); ++sample) {
        if (counter.value(sample) != peak.value || !counter.rangeOf(sample).overlaps(within)) continue;
        const std::optional<int64_t> overNs = meanOver(counter, sample);
        if (isFirst || overNs.value_or(0) < peak.overNs.value_or(0)) peak.overNs = overNs;
        isFirst = false;
        if (!peak.overNs) break;
    }
    return peak;
}

}  // namespace

bool isMean(CounterUnit unit) {
    switch (unit) {
        case CounterUnit::BytesPerSecond:
        case CounterUnit::Percent:
        case CounterUnit::Watts: return true;
        case CounterUnit::Count:
        case CounterUnit::Bytes:
        case CounterUnit::Celsius:
        case CounterUnit::Hertz:
        case CounterUnit::Joules:
        case CounterUnit::Flags: break;
    }
    return false;
}

std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample, int64_t shownNs) {
    const int64_t heldNs = counter.rangeOf(sample).durationNs();
    const bool isLong = heldNs > maxMomentaryNs || heldNs > shownNs / 2;
    // A mean of zero is zero throughout its interval.
    const double value = counter.value(sample);
    if (!isOfReadings(counter) || !isLong || value == 0 || std::isnan(value)) return std::nullopt;
    return heldNs;
}

std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample) {
    return meanOver(counter, sample, std::numeric_limits<int64_t>::max());
}

bool isMomentary(const CounterSeries& counter, TimeRange range, double value) {
    for (uint32_t sample = 0; sample < counter.size(); ++sample)
        if (counter.value(sample) == value && counter.rangeOf(sample).overlaps(range) && !meanOver(counter, sample))
            return true;
    return false;
}

uint32_t firstInEffectAfter(const CounterSeries& counter, int64_t timeNs) {
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
    // Repeated equal values may have been dropped.
    return counter.intervalNs > 0 && medianNs > 0 ? std::min(medianNs, counter.intervalNs) : medianNs;
}

std::string shortPeakText(const CounterSeries& counter, TimeRange within) {
    if (!counter.extremesIn(within).hasValue) return "unknown";
    const Peak peak = peakOf(counter, within);
    const std::string value = formatCounter(peak.value, counter.unit);
    return peak.overNs ? fmt::format("{} over {}", value, formatDuration(*peak.overNs)) : value;
}

std::string peakText(const CounterSeries& counter, TimeRange within) {
    if (!counter.extremesIn(within).hasValue) return "unknown";
    return (peakOf(counter, within).overNs ? "mean " : "peak ") + shortPeakText(counter, within);
}

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr int minWrapBits = 8, maxWrapBits = 63;
/// Threshold of a wrap-around: a counter near its end continues near 0, both within this share of its range.
constexpr long double wrapShare = 0.25L;

/// Sorts samples and keeps one per time.
void tidy(CounterSamples& samples) {
    samples.values.resize(samples.timesNs.size(), std::numeric_limits<long double>::quiet_NaN());
    LargeMemory* const memory = samples.timesNs.get_allocator().memory();
    LargeVector<size_t> order(samples.timesNs.size(), memory);
    std::iota(order.begin(), order.end(), size_t{0});
    if (!std::is_sorted(samples.timesNs.begin(), samples.timesNs.end()))
        sortLarge(order, [&samples](size_t a, size_t b) { return samples.timesNs[a] < samples.timesNs[b]; });
    LargeVector<int64_t> timesNs(memory);
    LargeVector<long double> values(memory);
    for (const size_t index : order) {
        if (!timesNs.empty() && samples.timesNs[index] == timesNs.back()) {
            values.back() = samples.values[index];
            continue;
        }
        timesNs.push_back(samples.timesNs[index]);
        values.push_back(samples.values[index]);
    }
    samples.timesNs = std::move(timesNs);
    samples.values = std::move(values);
}

CounterUnit rateOf(CounterUnit unit) {
    switch (unit) {
        case CounterUnit::Bytes: return CounterUnit::BytesPerSecond;
        case CounterUnit::Joules: return CounterUnit::Watts;
        case CounterUnit::Count:
        case CounterUnit::BytesPerSecond:
        case CounterUnit::Percent:
        case CounterUnit::Watts:
        case CounterUnit::Celsius:
        case CounterUnit::Hertz:
        case CounterUnit::Flags: break;
    }
    return unit;
}

/// Returns the typical distance of samples; 1 ns for a single one.
int64_t typicalIntervalNs(const LargeVector<int64_t>& timesNs) {
    LargeVector<int64_t> intervals(timesNs.get_allocator());
    for (size_t i = 1; i < timesNs.size(); ++i) intervals.push_back(timesNs[i] - timesNs[i - 1]);
    if (intervals.empty()) return 1;
    return std::max<int64_t>(1, upperMedianOf(std::move(intervals)));
}

/// Returns how long the last value of a gauge is in effect. Unchanged values are not stored, so
/// samples may be much further apart than readings.
int64_t lastValueDurationNs(const CounterSamples& samples) {
    return samples.intervalNs > 0 ? samples.intervalNs : typicalIntervalNs(samples.timesNs);
}

/// Adds amounts of a much shorter interval to the previous one. They occur after clock corrections
/// and would give wrong rates.
void joinShortAmounts(CounterSamples& samples) {
    constexpr int64_t shortPart = 10;  // Divisor of the typical interval.
    const int64_t minNs = typicalIntervalNs(samples.timesNs) / shortPart;
    size_t last = 0;
    for (size_t i = 1; i < samples.timesNs.size(); ++i) {
        if (samples.timesNs[i] - samples.timesNs[last] < minNs) {
            samples.values[last] += samples.values[i];
            continue;
        }
        ++last;
        samples.timesNs[last] = samples.timesNs[i];
        samples.values[last] = samples.values[i];
    }
    samples.timesNs.resize(last + 1);
    samples.values.resize(last + 1);
}

/// Growth of a cumulative counter; NaN if unknown.
class Growth {
  public:
    Growth(int wrapBits, CounterValues& tally) : tally_(tally) {
        if (wrapBits >= minWrapBits && wrapBits <= maxWrapBits) range_ = std::ldexp(1.0L, wrapBits);
    }

    long double between(long double before, long double after) {
        if (!(before >= 0) || !(after >= 0)) return std::numeric_limits<long double>::quiet_NaN();
        if (after >= before) return after - before;
        const bool hasWrapped =
            range_ > 0 && before < range_ && before >= range_ * (1 - wrapShare) && after <= range_ * wrapShare;
        if (!hasWrapped) {
            ++tally_.resetCount;
            return std::numeric_limits<long double>::quiet_NaN();
        }
        ++tally_.wrapCount;
        return range_ - before + after;
    }

  private:
    CounterValues& tally_;
    long double range_ = 0;
};

double perSecond(long double amount, int64_t ns) {
    if (!(amount >= 0) || !std::isfinite(amount)) return unknown;
    return static_cast<double>(amount * 1e9L / static_cast<long double>(ns));
}

double gauge(long double value, CounterUnit unit) {
    // Only temperatures and counts may be negative; otherwise a sampler reports a missing value so.
    const bool mayBeNegative = unit == CounterUnit::Celsius || unit == CounterUnit::Count;
    const bool makesSense = std::isfinite(value) && (value >= 0 || mayBeNegative);
    return makesSense ? static_cast<double>(value) : unknown;
}

}  // namespace

CounterValues counterValues(CounterSamples samples) {
    tidy(samples);
    CounterValues result;
    result.timesNs = LargeVector<int64_t>(samples.timesNs.get_allocator());
    result.values = LargeVector<double>(samples.timesNs.get_allocator());
    if (samples.meaning == CounterMeaning::Amount && !samples.timesNs.empty()) joinShortAmounts(samples);
    const size_t count = samples.timesNs.size();
    const bool isRate = samples.meaning == CounterMeaning::Cumulative || samples.meaning == CounterMeaning::Amount;
    result.unit = isRate ? rateOf(samples.unit) : samples.unit;
    if (count == 0) return result;
    if (samples.meaning == CounterMeaning::Gauge) {
        for (const long double value : samples.values) result.values.push_back(gauge(value, samples.unit));
        result.endNs = samples.timesNs.back();
        if (!std::isnan(result.values.back())) result.endNs += lastValueDurationNs(samples);
        result.timesNs = std::move(samples.timesNs);
        return result;
    }
    Growth growth(samples.wrapBits, result);
    for (size_t i = 1; i < count; ++i) {
        const int64_t ns = samples.timesNs[i] - samples.timesNs[i - 1];
        const long double value = samples.values[i];
        result.timesNs.push_back(samples.timesNs[i - 1]);
        if (samples.meaning == CounterMeaning::Average)
            result.values.push_back(gauge(value, samples.unit));
        else if (samples.meaning == CounterMeaning::Amount)
            result.values.push_back(perSecond(value, ns));
        else
            result.values.push_back(perSecond(growth.between(samples.values[i - 1], value), ns));
    }
    result.endNs = samples.timesNs.back();
    return result;
}

CounterSamples samplesOf(const CounterSeries& series) {
    CounterSamples samples;
    samples.meaning = series.isMeanOfInterval ? CounterMeaning::Average : CounterMeaning::Gauge;
    samples.unit = series.unit;
    samples.intervalNs = series.intervalNs;
    const auto add = [&samples](int64_t timeNs, double value) {
        samples.timesNs.push_back(timeNs);
        samples.values.push_back(value);
    };
    if (series.isEmpty()) return samples;
    samples.timesNs.reserve(size_t{series.size()} + 1);
    samples.values.reserve(size_t{series.size()} + 1);
    if (series.isMeanOfInterval) {
        add(series.timeNs(0), unknown);
        for (uint32_t sample = 0; sample < series.size(); ++sample)
            add(series.rangeOf(sample).endNs, series.value(sample));
        return samples;
    }
    for (uint32_t sample = 0; sample < series.size(); ++sample) add(series.timeNs(sample), series.value(sample));
    const bool endsUnknown = std::isnan(samples.values.back());
    if (!endsUnknown && samples.timesNs.back() + lastValueDurationNs(samples) != series.endNs())
        add(series.endNs(), unknown);
    return samples;
}

}  // namespace lanescope
