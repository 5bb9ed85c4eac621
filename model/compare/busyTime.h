#pragma once

#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// For each of `trace.gpus`, how long within `range` at least one kernel, memcpy or memset ran on it.
/// O(n log n) in the GPU work; any thread.
std::vector<int64_t> busyTimePerGpu(const Trace& trace, TimeRange range);

}  // namespace lanescope
