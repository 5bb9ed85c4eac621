// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "model/bandwidth/counterIntegral.h"
#include "model/summary/Report.h"

namespace lanescope {

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
