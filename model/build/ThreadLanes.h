// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "model/build/LaneBuilder.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The ranges of one NVTX domain on one thread.
struct DomainLanes {
    StringIndex domain = 0;
    std::vector<Lane> lanes;
    uint32_t droppedCount = 0;  ///< Ranges that found no lane.
};

/// What a thread did, before it becomes tracks.
struct ThreadLanes {
    std::vector<DomainLanes>
        domains;  ///< The default one first, then by number of ranges, code last.
    std::vector<Lane> calls;
    uint32_t droppedCalls = 0;
    uint64_t count = 0;  ///< Of calls and ranges.
    /// When the thread was in the CUDA API; when in a range of its last domain, if it made no
    /// calls.
    Lane busy;
};

/// Deals API calls and NVTX ranges out to lanes of their threads. `busy` is what to call the slices
/// of `ThreadLanes::busy`. Changes nothing of the trace. O(n). Stopped, it leaves events out.
std::vector<ThreadLanes> collectThreadLanes(const Trace& trace, StringIndex busy,
                                            const std::stop_token& stop);

}  // namespace lanescope
