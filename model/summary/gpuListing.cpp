// SPDX-License-Identifier: Apache-2.0
#include "model/summary/gpuListing.h"

#include <algorithm>
#include <utility>

namespace lanescope {

namespace {

using Started = std::pair<int64_t, EventRef>;

template <class Table>
void append(const ReportQuery& query, const Table& table, EventKind kind,
            std::vector<Started>& events) {
    for (uint32_t row = 0; row < table.size(); ++row) {
        const int64_t startNs = table.startNs[row];
        if (query.includes(startNs, table.endNs[row]))
            events.emplace_back(startNs, EventRef(kind, row));
    }
}

}  // namespace

std::vector<EventRef> gpuListing(const ReportQuery& query) {
    std::vector<Started> started;
    append(query, query.trace.kernels, EventKind::Kernel, started);
    append(query, query.trace.memcpys, EventKind::Memcpy, started);
    append(query, query.trace.memsets, EventKind::Memset, started);
    std::stable_sort(started.begin(), started.end(),
                     [](const Started& a, const Started& b) { return a.first < b.first; });
    std::vector<EventRef> events;
    events.reserve(started.size());
    for (const Started& each : started) events.push_back(each.second);
    return events;
}

}  // namespace lanescope
