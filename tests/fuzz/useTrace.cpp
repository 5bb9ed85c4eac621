// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/useTrace.h"

#include <algorithm>

#include "model/lod/reduceToPixels.h"
#ifdef LANESCOPE_HAS_SEARCH
#include "model/search/findEvents.h"
#endif
#include "model/lod/SelectionStatistics.h"
#include "model/lod/SumTable.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope::fuzz {

void useSums(const Trace& trace) {
    const TimeRange part{trace.range.startNs / 2, trace.range.startNs / 2 + 90'000'000};
    for (const TimeRange range : {trace.range, part}) {
        const SelectionStatistics statistics = selectionStatistics(trace, trace.sums, range);
        (void)selectedNames(trace, statistics, 20);
        (void)selectedCopies(statistics);
        (void)selectionHeadline(trace, statistics);
    }
}

namespace {

void drawTrace(const Trace& trace) {
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes) {
            for (const int width : {7, 300}) (void)reduceToPixels(lane, trace.range, width);
            const TimeRange part{trace.range.startNs, trace.range.startNs / 2 + 5000};
            (void)reduceToPixels(lane, part, 300);
            (void)sliceAt(lane, part.startNs, 10);
            for (uint32_t i = 0; i < lane.size(); i += 37) {
                (void)describe(trace, lane.event[i]);
                (void)trace.locate(lane.event[i]);
                (void)trace.launchedWork(lane.event[i]);
            }
        }
    for (const CounterSeries& series : trace.counters) (void)series.extremesAt(trace.range, 100);
}

void searchTrace([[maybe_unused]] const Trace& trace) {
#ifdef LANESCOPE_HAS_SEARCH
    constexpr TimeRange always{INT64_MIN, INT64_MAX};
    findEvents(trace, *NamePattern::compile("kernel", PatternKind::Substring), always,
               [](std::span<const EventRef>) { return true; });
#endif
}

void makeReports(const Trace& trace, ReportsMade made) {
    const auto reports = allReports();
    for (size_t number = 0; number < std::min(made.count, reports.size()); ++number) {
        const Report& report = *reports[(made.first + number) % reports.size()];
        if (const auto table = makeReport(trace, report.info.name)) {
            for (const TableFormat format : {TableFormat::Text, TableFormat::Json}) (void)formatTable(*table, format);
        }
    }
}

}  // namespace

void useTrace(const Trace& trace, ReportsMade made) {
    drawTrace(trace);
    searchTrace(trace);
    (void)selectionStatistics(trace, buildTraceSums(trace), trace.range);
    useSums(trace);
    makeReports(trace, made);
}

void usePartOf(const Trace& trace, size_t turn) {
    switch (turn % 4) {
        case 0: drawTrace(trace); return searchTrace(trace);
        case 1: (void)selectionStatistics(trace, buildTraceSums(trace), trace.range); return useSums(trace);
        default: return makeReports(trace, {turn / 4, 1});
    }
}

}  // namespace lanescope::fuzz
