// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/export/chromeTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Processes that a file of torch.profiler each can be written for: those that work on a GPU, by
/// rank; any process if none does.
std::vector<uint32_t> kinetoProcesses(const Trace& trace);

/// Writes what a process did as torch.profiler would: JSON that programs which analyse its profiles
/// take. Kernels, copies and memsets by device and stream, calls, waits, ranges as annotations,
/// operators and Python functions as what they are, NCCL calls as `record_param_comms`; work knows
/// its operator by "External id" and its call by "correlation". Times are exact. In pieces of some
/// tens of kilobytes; linear in the events, and in the tracks for each piece of work.
void writeKinetoTrace(const Trace& trace, uint32_t process, const TextSink& sink);

}  // namespace lanescope
