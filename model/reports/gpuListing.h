// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/bandwidth/LinkUse.h"
#include "model/reports/reports.h"

namespace lanescope {

/// Returns the kernels, memcpys and memsets that a query includes, by start. O(n log n).
std::vector<EventRef> gpuListing(const ReportQuery& query);

/// Returns "NVIDIA H200 (0)", "GPU 0" without a name.
std::string gpuName(const Gpu& gpu);

/// Returns true if the size of a memcpy or memset is known: none moves 0 bytes.
inline bool hasSize(int64_t bytes) { return bytes > 0; }
/// Returns the size of a memcpy or memset; empty if unknown.
inline Cell sizeCell(int64_t bytes) { return hasSize(bytes) ? Cell(bytes) : Cell(); }
/// Returns GB/s; empty if unknown.
inline Cell throughputCell(int64_t bytes, int64_t durationNs) {
    if (!hasSize(bytes) || durationNs <= 0) return {};
    return static_cast<double>(bytes) / static_cast<double>(durationNs);
}

/// Passes a row (`rowOf`) per event in some thousand rows, at least once, until the sink returns false.
template <class Event, class RowOf>
void listInParts(ReportTable part, const std::vector<Event>& events, RowOf rowOf, const PartSink& sink) {
    constexpr size_t rowsPerPart = 8192;  // a row takes about a kilobyte, so a part some megabytes
    size_t next = 0;
    do {
        part.rows.clear();
        for (; next < events.size() && part.rows.size() < rowsPerPart; ++next) part.rows.push_back(rowOf(events[next]));
    } while (sink(part) && next < events.size());
}

/// Bytes sent and received over one link, or over all (link -1), by GPU number and sampler.
using LinkId = std::tuple<int64_t, std::string, int32_t>;
struct LinkPair {
    const CounterSeries* sent = nullptr;
    const CounterSeries* received = nullptr;
};
std::map<LinkId, LinkPair> nvlinks(const Trace& trace);

/// Returns "all" for the sum over the links of a GPU.
std::string linkName(int32_t link);

/// Returns whole bytes; empty if unknown.
Cell bytesOf(const CounterIntegral& integral);

/// Returns the time in which counters were sampled, which may begin before the first event; or `range` if any.
TimeRange sampledRange(const Trace& trace, std::optional<TimeRange> range);

/// Returns a note with the length of that time, if the user did not choose it and it is not the run itself.
std::vector<std::string> spanNotes(const Trace& trace, std::optional<TimeRange> range);

}  // namespace lanescope
