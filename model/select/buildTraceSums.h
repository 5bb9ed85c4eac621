#pragma once

#include "model/select/TraceSums.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Whether the slices of a track are events themselves, and no sum of others.
bool holdsEvents(TrackKind kind);

/// Sums up the tracks of a trace. O(n).
TraceSums buildTraceSums(const Trace& trace);

}  // namespace lanescope
