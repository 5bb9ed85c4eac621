#include "model/bandwidth/counterIntegral.h"

#include <algorithm>
#include <cmath>

namespace lanescope {

CounterIntegral integralOf(const CounterSeries& series, TimeRange range) {
    CounterIntegral result;
    result.wholeNs = std::max<int64_t>(0, range.durationNs());
    if (range.isEmpty() || series.isEmpty()) return result;
    uint32_t low = 0, high = series.size();
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (series.rangeOf(middle).endNs <= range.startNs)
            low = middle + 1;
        else
            high = middle;
    }
    long double sum = 0;
    result.isExact = low < series.size() && series.timeNs(low) == range.startNs;
    bool endsWithSample = false;
    for (uint32_t sample = low; sample < series.size(); ++sample) {
        if (series.timeNs(sample) >= range.endNs) break;
        const TimeRange held = series.rangeOf(sample);
        endsWithSample = held.endNs == range.endNs;
        const TimeRange part = held.intersected(range);
        const double value = series.value(sample);
        if (std::isnan(value) || part.isEmpty()) continue;
        result.maximum = result.hasValue() ? std::max(result.maximum, value) : value;
        result.knownNs += part.durationNs();
        sum += static_cast<long double>(value) * static_cast<long double>(part.durationNs());
    }
    result.isExact = result.isExact && endsWithSample && result.isComplete();
    result.amount = static_cast<double>(sum / 1e9L);
    return result;
}

}  // namespace lanescope
