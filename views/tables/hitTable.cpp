// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/hitTable.h"

#include <algorithm>
#include <string>

#include "model/events/eventCells.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope::views {
namespace {

Cell rankCell(const Trace& trace, EventRef event) {
    uint32_t process = noIndex;
    if (const uint32_t stream = streamOf(trace, event); stream != noIndex)
        process = trace.streams[stream].process;
    else if (const uint32_t thread = threadOf(trace, event); thread != noIndex)
        process = trace.threads[thread].process;
    if (process == noIndex || !trace.processes[process].rank) return {};
    return int64_t{*trace.processes[process].rank};
}

}  // namespace

ReportTable hitTable(const Trace& trace, std::span<const EventRef> events) {
    ReportTable table;
    table.name = "search_results";
    table.title = "Search results";
    table.columns = {
        {"Start", Unit::Timestamp}, {"Duration", Unit::Nanoseconds},  {"What", Unit::Text},
        {"Name", Unit::Text},       {"Thread or stream", Unit::Text}, {"Rank", Unit::Identifier},
        {"GPU", Unit::Identifier}};
    const size_t count = std::min(events.size(), maximumHitRows);
    table.rows.reserve(count);
    for (const EventRef event : events.first(count)) {
        const TimeRange range = trace.rangeOf(event);
        table.rows.push_back({range.startNs, range.durationNs(),
                              std::string(nameOfKind(event.kind())), trace.nameOf(event),
                              eventCell(trace, event, EventColumn::Line), rankCell(trace, event),
                              eventCell(trace, event, EventColumn::Gpu)});
    }
    return table;
}

}  // namespace lanescope::views
