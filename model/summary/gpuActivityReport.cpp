// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "model/summary/linkCounters.h"
#include "model/summary/reportList.h"
#include "model/trace/counterReadings.h"
#include "model/trace/throttleReasons.h"

namespace lanescope {

namespace {

/// The unit in which the values of a counter read well, and how many of the counter's own it is.
struct ReadableUnit {
    std::string_view name;
    double size = 1;
};

ReadableUnit readableUnit(CounterUnit unit) {
    switch (unit) {
        case CounterUnit::Bytes:
            return {"MiB", 1 << 20};
        case CounterUnit::BytesPerSecond:
            return {"MB/s", 1e6};
        case CounterUnit::Percent:
            return {"%"};
        case CounterUnit::Watts:
            return {"W"};
        case CounterUnit::Celsius:
            return {"°C"};
        case CounterUnit::Hertz:
            return {"MHz", 1e6};
        case CounterUnit::Joules:
            return {"J"};
        case CounterUnit::Count:
        case CounterUnit::Flags:
            break;
    }
    return {""};
}

double knownPercent(int64_t knownNs, int64_t wholeNs) {
    return 100.0 * static_cast<double>(knownNs) /
           static_cast<double>(std::max<int64_t>(1, wholeNs));
}

/// How long each reason held the clocks of a GPU down.
void addThrottling(const Trace& trace, TimeRange range, ReportTable& table) {
    for (const CounterSeries& series : trace.counters) {
        if (series.gpu == noIndex || series.unit != CounterUnit::Flags) continue;
        int64_t knownNs = 0;
        std::map<std::string, int64_t> heldNs;
        for (uint32_t sample = 0; sample < series.size(); ++sample) {
            const int64_t ns = series.rangeOf(sample).intersected(range).durationNs();
            const double value = series.value(sample);
            if (ns <= 0 || !(value >= 0)) continue;
            knownNs += ns;
            const auto flags = static_cast<uint64_t>(value);
            for (const ThrottleReason& reason : throttleReasons())
                if (reason.isSlowdown && (flags & reason.bit) != 0)
                    heldNs[std::string(reason.name)] += ns;
        }
        for (const auto& [reason, ns] : heldNs)
            table.rows.push_back({trace.gpus[series.gpu].id, "throttled: " + reason,
                                  knownPercent(ns, knownNs), Cell(), std::string("% of the time"),
                                  knownPercent(knownNs, range.durationNs()), series.source,
                                  Cell()});
    }
}

ReportTable gpuActivity(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"GPU", Unit::Identifier}, {"Counter", Unit::Text},
                     {"Mean", Unit::Count},     {"Max", Unit::Count},
                     {"Unit", Unit::Text},      {"Known", Unit::Percent},
                     {"Source", Unit::Text},    {"Read Every", Unit::Nanoseconds}};
    const TimeRange range = sampledRange(query.trace, query.range);
    for (const CounterSeries& series : query.trace.counters) {
        if (series.gpu == noIndex || series.source.empty() || series.link >= 0 ||
            series.unit == CounterUnit::Flags || series.key == "memory.total")
            continue;
        const CounterIntegral all = integralOf(series, range);
        const ReadableUnit unit = readableUnit(series.unit);
        // The steps of an energy counter are coarse: their slope is no power that was drawn.
        const bool hasMaximum =
            all.hasValue() && series.key != "energy" && isOfAMoment(series, range, all.maximum);
        const int64_t everyNs = medianReadingNs(series);
        table.rows.push_back({query.trace.gpus[series.gpu].id, series.name,
                              all.hasValue() ? Cell(all.mean() / unit.size) : Cell(),
                              hasMaximum ? Cell(all.maximum / unit.size) : Cell(),
                              std::string(unit.name), knownPercent(all.knownNs, all.wholeNs),
                              series.source, everyNs > 0 ? Cell(everyNs) : Cell()});
    }
    addThrottling(query.trace, range, table);
    if (!table.rows.empty()) table.notes = spanNotes(query.trace, query.range);
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](const auto& a, const auto& b) { return a[0] < b[0]; });
    return table;
}

}  // namespace

const Report gpuActivityReport{
    .info = {.name = "gpu_activity",
             .title = "GPU Activity",
             .description = "Utilization, clocks, power and throttling of each GPU, as sampled",
             .isSampled = true},
    .build = gpuActivity};

}  // namespace lanescope
