#include "views/tables/hitTable.h"

#include <algorithm>
#include <string>

namespace lanescope {
namespace {

std::string kindName(EventKind kind) {
    switch (kind) {
        case EventKind::Kernel:
            return "kernel";
        case EventKind::Memcpy:
            return "memcpy";
        case EventKind::Memset:
            return "memset";
        case EventKind::Api:
            return "API call";
        case EventKind::Sync:
            return "synchronization";
        case EventKind::Nvtx:
            return "NVTX range";
        case EventKind::Projection:
            return "NVTX range on the GPU";
        case EventKind::Graph:
            return "CUDA graph";
        case EventKind::PageFault:
            return "page fault";
        case EventKind::CounterSample:
            return "counter";
        case EventKind::None:
            break;
    }
    return {};
}

}  // namespace

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
        table.rows.push_back(
            {range.startNs, range.durationNs(), kindName(event.kind()), trace.nameOf(event)});
    }
    return table;
}

}  // namespace lanescope
