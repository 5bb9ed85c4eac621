// SPDX-License-Identifier: Apache-2.0
#include "model/summary/linkCounters.h"

#include <fmt/format.h>

#include <cmath>

#include "model/trace/buildLinkCounters.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

bool isSampledNvlink(const CounterSeries& series) {
    const bool isNvlink = series.key == nvlinkSentKey || series.key == nvlinkReceivedKey;
    return isNvlink && series.gpu != noIndex;
}

}  // namespace

std::map<LinkId, LinkPair> nvlinks(const Trace& trace) {
    std::map<LinkId, LinkPair> links;
    for (const CounterSeries& series : trace.counters) {
        if (!isSampledNvlink(series)) continue;
        LinkPair& pair = links[{trace.gpus[series.gpu].id, series.source, series.link}];
        (series.key == nvlinkSentKey ? pair.sent : pair.received) = &series;
    }
    return links;
}

/// Whole bytes; empty where nothing is known.
Cell bytesOf(const CounterIntegral& integral) {
    if (!integral.hasValue()) return {};
    return static_cast<int64_t>(std::llround(integral.amount));
}

std::string linkName(int32_t link) {
    return link < 0 ? "all" : fmt::format("{}", link);
}

TimeRange sampledRange(const Trace& trace, std::optional<TimeRange> range) {
    if (range) return *range;
    TimeRange whole = trace.range;
    for (const CounterSeries& series : trace.counters)
        if (!series.isEmpty() && !series.source.empty())
            whole = whole.united({series.timeNs(0), series.endNs()});
    return whole;
}

std::vector<std::string> spanNotes(const Trace& trace, std::optional<TimeRange> range) {
    const TimeRange sampled = sampledRange(trace, range);
    if (range || sampled == trace.range) return {};
    return {fmt::format(
        "Means are over the {} in which counters were sampled; the run itself took {}.",
        formatDuration(sampled.durationNs()), formatDuration(trace.range.durationNs()))};
}

}  // namespace lanescope
