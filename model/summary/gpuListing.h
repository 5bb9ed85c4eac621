// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/summary/Report.h"

namespace lanescope {

/// The kernels, memcpys and memsets that a query includes, by start. O(n log n).
std::vector<EventRef> gpuListing(const ReportQuery& query);

/// Whether a trace knows how much a memcpy or memset moved: one of nothing is none.
inline bool hasSize(int64_t bytes) {
    return bytes > 0;
}
/// Of a memcpy or memset; empty if not known.
inline Cell sizeCell(int64_t bytes) {
    return hasSize(bytes) ? Cell(bytes) : Cell();
}
/// GB/s; empty if not known.
inline Cell throughputCell(int64_t bytes, int64_t durationNs) {
    if (!hasSize(bytes) || durationNs <= 0) return {};
    return static_cast<double>(bytes) / static_cast<double>(durationNs);
}

/// Hands out a row for each event in parts of some thousand rows, at least one part, until the sink
/// returns false. `part` has the columns; `rowOf` makes a row of an event.
template <class RowOf>
void listInParts(ReportTable part, const std::vector<EventRef>& events, RowOf rowOf,
                 const PartSink& sink) {
    constexpr size_t rowsPerPart = 8192;  // a row takes about a kilobyte, so a part some megabytes
    size_t next = 0;
    do {
        part.rows.clear();
        for (; next < events.size() && part.rows.size() < rowsPerPart; ++next)
            part.rows.push_back(rowOf(events[next]));
    } while (sink(part) && next < events.size());
}

}  // namespace lanescope
