// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the traces, with data from logs of NCCL Inspector added to those of the same processes,
/// by host and PID. Logs of other processes stay traces of their own. O(n log n); if stopped,
/// returns the traces unchanged.
///
/// Nothing counts twice. If a trace has NCCL's calls, operations are matched with them, by number,
/// else by time, and complete them. If it has only NCCL's kernels, operations become the calls of
/// these. If it has neither, they become calls and kernels. A warning reports the number of
/// unmatched operations.
std::vector<TracePtr> joinInspector(std::span<const TracePtr> traces, unsigned threads,
                                    const std::stop_token& stop);

}  // namespace lanescope
