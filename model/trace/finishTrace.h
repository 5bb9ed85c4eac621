#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Makes a trace out of filled tables: sorts them, finds the ranges of time, ends open NVTX ranges,
/// and builds depths, links, projections and tracks. Every index in the tables must be valid. Where
/// the end of a process is known, its range holds it beforehand, as `endNs`. O(n log n).
void finishTrace(Trace& trace);

}  // namespace lanescope
