#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `tracks` from the tables: for each GPU its streams with their projected NVTX ranges, then
/// for each process its threads with their NVTX ranges and API calls, busiest first. Adds a health
/// note where more events overlap than there are lanes. O(n log n).
void buildTracks(Trace& trace);

}  // namespace lanescope
