// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Receives the next piece of text; returns false to stop.
using TextSink = std::function<bool(std::string_view)>;

/// Returns the processes that each can be exported to a file of torch.profiler: those with GPU
/// work, by rank; any process if none has GPU work.
std::vector<uint32_t> kinetoProcesses(const Trace& trace);

/// Writes the activity of a process in the JSON format of torch.profiler, for programs that analyse
/// its profiles: kernels, copies and memsets by device and stream, calls, waits, ranges as
/// annotations, operators and Python functions, NCCL calls as `record_param_comms`. Work refers to
/// its operator by "External id" and to its call by "correlation". Times are exact. Passes pieces
/// of some tens of kilobytes; linear in the events, and in the tracks for each piece of work.
void writeKinetoTrace(const Trace& trace, uint32_t process, const TextSink& sink);

/// Writes the trace as packets of Perfetto, which its page and its programs open at any size: a track for each process
/// and thread, for each GPU and stream, and for each counter; slices with torch.profiler's attributes; flows from calls
/// to the launched work. Slices of one track nest; others get additional tracks. Times are exact. Passes pieces of some
/// tens of kilobytes; O(n log n) in the events.
void writePerfettoTrace(const Trace& trace, const TextSink& sink);

}  // namespace lanescope
