// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `streamWaits` from `eventRecords` and `eventWaits`, and empties those two: each wait is
/// paired with the last record of its event before it. Calls are ordered by correlation, which
/// CUPTI counts upwards within a process. Waits for an event that nobody recorded, and those that a
/// stream does for itself, make no difference and are left out. O(n log n) in records and waits.
void buildWaits(Trace& trace);

/// Sorts `backwards` by the rows of the sorted ranges, leaves out what is there twice or is the
/// backward of itself, and fills the column of those from the other end. O(n log n). Stopped, it
/// leaves the table in no order.
void buildBackwards(Trace& trace, const std::stop_token& stop);

/// Gives calls, ranges and nodes of CUDA graphs of threads that run no Python the stack for which
/// they work: that of the last of them before of the main thread of their process, which waits for
/// them, as in PyTorch's backward. Where the main thread has no stacks, that of the last of any
/// thread. Then gives nodes that are copies the stack of what they are copies of, and sorts nodes
/// by process and number. Once all are sorted by time. O(n), O(n log n) in nodes.
void buildStacks(Trace& trace, const std::stop_token& stop);

/// Fills `projections`: for every NVTX range but Python functions and every stream, the stretch
/// from the first start to the last end of the GPU work whose launching call starts within the
/// range on its thread. Needs `Trace::links`. O((calls + ranges) log calls + ranges * streams used
/// by their thread). Stopped, it leaves `projections` as they were.
void buildProjections(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
