// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/bandwidth/describeTopology.h"
#include "model/values/ReportTable.h"

namespace lanescope::views {

/// How the GPUs of a trace are joined and what their links carried in some range.
struct TopologyAnswer : TopologyDescription {
    TracePtr trace;
    std::optional<TimeRange> range;  ///< The whole trace if not given.
    ReportTable links;  ///< NVLink by range and link; without rows if there are no counters.
    bool knowsConnections() const { return !trace->interconnect.connections.empty(); }
};

/// Any thread. O(n log n) in copies, NCCL's calls and NVTX ranges.
std::shared_ptr<const TopologyAnswer> answerTopology(TracePtr trace,
                                                     std::optional<TimeRange> range);

}  // namespace lanescope::views
