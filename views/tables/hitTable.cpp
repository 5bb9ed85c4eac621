// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/hitTable.h"

#include <algorithm>
#include <string>

#include "model/trace/kinds/eventFacts.h"

namespace lanescope::views {

ReportTable hitTable(const Trace& trace, std::span<const EventRef> events) {
    ReportTable table;
    table.name = "search_results";
    table.title = "Search results";
    table.columns = {{"Start", Unit::Nanoseconds},
                     {"Duration", Unit::Nanoseconds},
                     {"What", Unit::Text},
                     {"Name", Unit::Text}};
    const size_t count = std::min(events.size(), maximumHitRows);
    table.rows.reserve(count);
    for (const EventRef event : events.first(count)) {
        const TimeRange range = trace.rangeOf(event);
        table.rows.push_back({range.startNs, range.durationNs(),
                              std::string(nameOfKind(event.kind())), trace.nameOf(event)});
    }
    return table;
}

}  // namespace lanescope::views
