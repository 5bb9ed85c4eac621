// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What an NVTX range did on the GPU, over all streams.
struct RangeProjection {
    TimeRange range;              ///< From the first start to the last end of its work.
    uint32_t operationCount = 0;  ///< 0: the range launched nothing.
    uint32_t level = 0;           ///< How many ranges of its thread, of any domain, lie around it.
    uint32_t childCount = 0;      ///< Ranges directly inside it that launched something.
};

/// One per row of `trace.nvtx`. O(n log n) in the ranges; of more than some hundred that are open
/// at once on a thread only the latest are looked at.
std::vector<RangeProjection> projectRanges(const Trace& trace);

}  // namespace lanescope
