// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/export/TextSink.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes the trace as packets of Perfetto, which its page and its programs open at any size: a track for each process
/// and thread, for each GPU and stream, and for each counter; slices with torch.profiler's attributes; flows from calls
/// to the launched work. Slices of one track nest; others get additional tracks. Times are exact. Passes pieces of some
/// tens of kilobytes; O(n log n) in the events.
void writePerfettoTrace(const Trace& trace, const TextSink& sink);

}  // namespace lanescope
