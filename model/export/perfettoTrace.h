// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/export/TextSink.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes a trace as Perfetto's own protobuf (`.pftrace`): a track for each thread and stream, with
/// further ones for what overlaps, slices of calls, ranges and GPU work, arrows from calls to their
/// work, and the counters. Smaller than JSON and of any size. Stops once the sink wants no more.
/// O(n log n).
void writePerfettoTrace(const Trace& trace, const TextSink& sink);

}  // namespace lanescope
