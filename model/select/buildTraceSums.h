#pragma once

#include "model/trace/TraceSums.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Whether the slices of a track are events themselves, and no sum of others.
bool holdsEvents(TrackKind kind);

/// Sums up the tracks of a trace, on as many threads. O(n). `Trace::sums` are these.
TraceSums buildTraceSums(const Trace& trace, unsigned threads = 1);

}  // namespace lanescope
