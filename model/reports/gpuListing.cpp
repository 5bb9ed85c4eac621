// SPDX-License-Identifier: Apache-2.0
#include "model/reports/gpuListing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/text/formatValue.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

using Started = std::pair<int64_t, EventRef>;

void append(const ReportQuery& query, const auto& table, EventKind kind, std::vector<Started>& events) {
    for (uint32_t row = 0; row < table.size(); ++row) {
        const int64_t startNs = table.startNs[row];
        if (query.includes(startNs, table.endNs[row])) events.emplace_back(startNs, EventRef(kind, row));
    }
}

bool isSampledNvlink(const CounterSeries& series) {
    const bool isNvlink = series.key == nvlinkSentKey || series.key == nvlinkReceivedKey;
    return isNvlink && series.gpu != noIndex;
}

}  // namespace

std::vector<EventRef> gpuListing(const ReportQuery& query) {
    std::vector<Started> started;
    append(query, query.trace.kernels, EventKind::Kernel, started);
    append(query, query.trace.memcpys, EventKind::Memcpy, started);
    append(query, query.trace.memsets, EventKind::Memset, started);
    std::ranges::stable_sort(started, {}, &Started::first);
    return mapped(started, &Started::second);
}

std::string gpuName(const Gpu& gpu) {
    return gpu.name.empty() ? fmt::format("GPU {}", gpu.id) : fmt::format("{} ({})", gpu.name, gpu.id);
}

std::map<LinkId, LinkPair> nvlinks(const Trace& trace) {
    std::map<LinkId, LinkPair> links;
    for (const CounterSeries& series : trace.counters) {
        if (!isSampledNvlink(series)) continue;
        LinkPair& pair = links[{trace.gpus[series.gpu].id, series.source, series.link}];
        (series.key == nvlinkSentKey ? pair.sent : pair.received) = &series;
    }
    return links;
}

Cell bytesOf(const CounterIntegral& integral) {
    if (!integral.hasValue()) return {};
    return static_cast<int64_t>(std::llround(integral.amount));
}

std::string linkName(int32_t link) { return link < 0 ? "all" : fmt::format("{}", link); }

TimeRange sampledRange(const Trace& trace, std::optional<TimeRange> range) {
    if (range) return *range;
    TimeRange whole = trace.range;
    for (const CounterSeries& series : trace.counters)
        if (!series.isEmpty() && !series.source.empty()) whole = whole.united({series.timeNs(0), series.endNs()});
    return whole;
}

std::vector<std::string> spanNotes(const Trace& trace, std::optional<TimeRange> range) {
    const TimeRange sampled = sampledRange(trace, range);
    if (range || sampled == trace.range) return {};
    return {fmt::format("Means cover the {} with sampled counters; the run took {}.",
                        formatDuration(sampled.durationNs()), formatDuration(trace.range.durationNs()))};
}

}  // namespace lanescope
