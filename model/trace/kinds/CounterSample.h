// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "model/text/formatValue.h"
#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

/// Value of a counter. The samples of all counters are numbered consecutively.
struct CounterSample : Unplaced {
    static constexpr EventKind kind = EventKind::CounterSample;
    static constexpr Origin origin = Origin::Sampled;
    static constexpr std::string_view identifier = "counter_sample";
    static constexpr std::string_view name = "Counter sample", plural = "counter samples";

    static uint32_t size(const Trace& trace) {
        const bool isNumbered = !trace.counters.empty() && trace.counterRows.size() == trace.counters.size();
        return isNumbered ? trace.counterRows.back() + trace.counters.back().size() : 0;
    }
    static TimeRange rangeOf(const Trace& trace, uint32_t row) {
        const Trace::SamplePlace place = placeOf(trace, row);
        return place.counter != noIndex ? trace.counters[place.counter].rangeOf(place.sample) : TimeRange{};
    }
    static std::string nameOf(const Trace& trace, uint32_t row) {
        const Trace::SamplePlace place = placeOf(trace, row);
        const CounterSeries& series = trace.counters[place.counter];
        return fmt::format("{}: {}", series.name, formatCounter(series.value(place.sample), series.unit));
    }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::Counter; }

    static constexpr std::array tracks{TrackKind::Counter, TrackKind::CounterStates};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        return {TrackKind::Counter, placeOf(trace, row).counter};
    }
    static uint32_t gpuOf(const Trace& trace, uint32_t row) { return trace.counters[placeOf(trace, row).counter].gpu; }
    static uint32_t processOf(const Trace& trace, uint32_t row) {
        return trace.counters[placeOf(trace, row).counter].process;
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const Trace::SamplePlace place = placeOf(trace, row);
        const CounterSeries& series = trace.counters[place.counter];
        const double value = series.value(place.sample);
        details.add(series.name, formatCounter(value, series.unit));
        details.add("From", exactSeconds(series.timeNs(place.sample)));
        details.add("Held for", formatDuration(series.rangeOf(place.sample).durationNs()));
        if (place.sample > 0) {
            const double change = value - series.value(place.sample - 1);
            if (change > 0) details.add("Change", "+" + formatCounter(change, series.unit));
            if (change < 0) details.add("Change", "\u2212" + formatCounter(-change, series.unit));
        }
        details.add("Peak", formatCounter(series.maximum(), series.unit));
        if (series.gpu != noIndex) details.addGpu(series.gpu);
        if (series.process != noIndex) details.addProcess(series.process);
    }

  private:
    static Trace::SamplePlace placeOf(const Trace& trace, uint32_t row) {
        return trace.samplePlace(EventRef(kind, row));
    }
};

}  // namespace lanescope::kinds
