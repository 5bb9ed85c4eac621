// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/bandwidth/counterIntegral.h"
#include "model/reports/Report.h"

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

/// Sent and received over one link, or over all of a GPU (link -1), by GPU number, with the
/// source: several samplers may tell of one link.
using LinkId = std::tuple<int64_t, std::string, int32_t>;
struct LinkPair {
    const CounterSeries* sent = nullptr;
    const CounterSeries* received = nullptr;
};
std::map<LinkId, LinkPair> nvlinks(const Trace& trace);

/// "all" for the sum over the links of a GPU.
std::string linkName(int32_t link);

/// Whole bytes; empty where nothing is known.
Cell bytesOf(const CounterIntegral& integral);

/// The time in which any of the counters was sampled, which may begin before the first event; or
/// `range` if there is one.
TimeRange sampledRange(const Trace& trace, std::optional<TimeRange> range);

/// Says how long that is, if nobody chose it and it is not the run itself; else nothing.
std::vector<std::string> spanNotes(const Trace& trace, std::optional<TimeRange> range);

}  // namespace lanescope
