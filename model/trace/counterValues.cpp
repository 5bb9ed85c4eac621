// SPDX-License-Identifier: Apache-2.0
#include "model/trace/counterValues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/values/sortLarge.h"

namespace lanescope {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr int fewestWrapBits = 8, mostWrapBits = 63;
/// A counter that passed its end goes on from near 0, having been near its end: both within this
/// share of its range.
constexpr long double wrapShare = 0.25L;

/// Puts samples in order, one for each time.
void tidy(CounterSamples& samples) {
    samples.values.resize(samples.timesNs.size(), std::numeric_limits<long double>::quiet_NaN());
    LargeMemory* const memory = samples.timesNs.get_allocator().memory();
    LargeVector<size_t> order(samples.timesNs.size(), memory);
    std::iota(order.begin(), order.end(), size_t{0});
    if (!std::is_sorted(samples.timesNs.begin(), samples.timesNs.end()))
        sortLarge(order, [&samples](size_t a, size_t b) {
            return samples.timesNs[a] < samples.timesNs[b];
        });
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
        case CounterUnit::Bytes:
            return CounterUnit::BytesPerSecond;
        case CounterUnit::Joules:
            return CounterUnit::Watts;
        case CounterUnit::Count:
        case CounterUnit::BytesPerSecond:
        case CounterUnit::Percent:
        case CounterUnit::Watts:
        case CounterUnit::Celsius:
        case CounterUnit::Hertz:
        case CounterUnit::Flags:
            break;
    }
    return unit;
}

/// How far samples usually are apart; 1 ns for a single one.
int64_t usualInterval(const LargeVector<int64_t>& timesNs) {
    LargeVector<int64_t> intervals(timesNs.get_allocator());
    for (size_t i = 1; i < timesNs.size(); ++i) intervals.push_back(timesNs[i] - timesNs[i - 1]);
    if (intervals.empty()) return 1;
    const auto middle = intervals.begin() + static_cast<ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return std::max<int64_t>(1, *middle);
}

/// How long the last value of a gauge holds. Values that did not change were not kept: samples may
/// lie much further apart than readings.
int64_t lastHoldsFor(const CounterSamples& samples) {
    return samples.intervalNs > 0 ? samples.intervalNs : usualInterval(samples.timesNs);
}

/// An amount of far less time than others, as where a clock was put right, is no rate that ever
/// was: it counts with the one before.
void joinShortAmounts(CounterSamples& samples) {
    constexpr int64_t shortPart = 10;  // Of the usual interval.
    const int64_t leastNs = usualInterval(samples.timesNs) / shortPart;
    size_t last = 0;
    for (size_t i = 1; i < samples.timesNs.size(); ++i) {
        if (samples.timesNs[i] - samples.timesNs[last] < leastNs) {
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

/// By how much a cumulative counter grew; not a number if it cannot be told.
class Growth {
  public:
    Growth(int wrapBits, CounterValues& tally) : tally_(tally) {
        if (wrapBits >= fewestWrapBits && wrapBits <= mostWrapBits)
            range_ = std::ldexp(1.0L, wrapBits);
    }

    long double between(long double before, long double after) {
        if (!(before >= 0) || !(after >= 0)) return std::numeric_limits<long double>::quiet_NaN();
        if (after >= before) return after - before;
        const bool hasWrapped = range_ > 0 && before < range_ &&
                                before >= range_ * (1 - wrapShare) && after <= range_ * wrapShare;
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
    // Only temperatures go below 0; a sampler that says so of anything else has no answer.
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
    if (samples.meaning == CounterMeaning::Amount && !samples.timesNs.empty())
        joinShortAmounts(samples);
    const size_t count = samples.timesNs.size();
    const bool isRate =
        samples.meaning == CounterMeaning::Cumulative || samples.meaning == CounterMeaning::Amount;
    result.unit = isRate ? rateOf(samples.unit) : samples.unit;
    if (count == 0) return result;
    if (samples.meaning == CounterMeaning::Gauge) {
        for (const long double value : samples.values)
            result.values.push_back(gauge(value, samples.unit));
        result.endNs = samples.timesNs.back();
        if (!std::isnan(result.values.back())) result.endNs += lastHoldsFor(samples);
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
    for (uint32_t sample = 0; sample < series.size(); ++sample)
        add(series.timeNs(sample), series.value(sample));
    const bool endsUnknown = std::isnan(samples.values.back());
    if (!endsUnknown && samples.timesNs.back() + lastHoldsFor(samples) != series.endNs())
        add(series.endNs(), unknown);
    return samples;
}

}  // namespace lanescope
