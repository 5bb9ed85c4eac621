// SPDX-License-Identifier: Apache-2.0
#include "model/trace/Trace.h"

#include <algorithm>

namespace lanescope {

Trace::SamplePlace Trace::samplePlace(EventRef event) const {
    if (event.kind() != EventKind::CounterSample || counterRows.empty()) return {};
    const auto after = std::upper_bound(counterRows.begin(), counterRows.end(), event.row());
    const auto counter = static_cast<uint32_t>(after - counterRows.begin()) - 1;
    const uint32_t sample = event.row() - counterRows[counter];
    if (sample >= counters[counter].size()) return {};
    return {counter, sample};
}

EventRef Trace::sampleEvent(uint32_t counter, uint32_t sample) const {
    return {EventKind::CounterSample, counterRows[counter] + sample};
}

TimeRange Trace::timelineRange() const {
    if (!isEmpty()) return range;
    TimeRange known = range;
    for (const CounterSeries& series : counters) {
        if (series.isEmpty()) continue;
        const TimeRange each{series.timeNs(0), series.endNs()};
        known = known.isEmpty() ? each : known.united(each);
    }
    return known;
}

}  // namespace lanescope
