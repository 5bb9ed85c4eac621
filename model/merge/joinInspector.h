// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// The traces, of which each that a log of NCCL Inspector lies beside has what the log says of its
/// processes, which are told by host and PID; logs of other processes stay traces of their own.
/// Nothing counts twice: where a trace has NCCL's calls, operations are looked for among them, by
/// their numbers, else by their times, and say of them what is lacking; where it has NCCL's kernels
/// only, operations become the calls of these; where it has neither, calls and kernels. How many
/// found no place is said in the health. O(n log n); stopped, the traces as they were.
std::vector<TracePtr> joinInspector(std::span<const TracePtr> traces, unsigned threads,
                                    const std::stop_token& stop);

}  // namespace lanescope
