// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/export/TextSink.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes the trace as packets of Perfetto, which its page and its programs open whatever the size:
/// a track for each process and thread, for each GPU and stream, and for each counter; slices with
/// what torch.profiler says of such events; flows from calls to the work that they launched. Slices
/// of one track nest; what overlaps gets further tracks. Times are exact. In pieces of some tens of
/// kilobytes; O(n log n) in the events.
void writePerfettoTrace(const Trace& trace, const TextSink& sink);

}  // namespace lanescope
