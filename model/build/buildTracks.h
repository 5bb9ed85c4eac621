// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/build/GpuLanes.h"
#include "model/build/ThreadLanes.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `tracks` from the tables: for each GPU its streams with their projected NVTX ranges, then
/// for each process its threads with their NVTX ranges and API calls, busiest first. Adds a health
/// note where more events overlap than there are lanes. O(n log n).
/// What GPUs and threads did is given; `busy` is what to call slices that sum up others.
/// Stopped, it leaves slices out.
void buildTracks(Trace& trace, GpuLanes ofGpus, std::vector<ThreadLanes> ofThreads,
                 StringIndex busy, const std::stop_token& stop);

}  // namespace lanescope
