// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `streamWaits` from `eventRecords` and `eventWaits`, and empties these two. Pairs each wait with the last
/// earlier record of its event. Calls are ordered by correlation, which CUPTI counts upwards within a process. Waits
/// without a record and waits of a stream for itself have no effect and are skipped. O(n log n) in records and waits.
void buildWaits(Trace& trace);

/// Sorts `backwards` by the sorted ranges, removes duplicates and pairs of one range with itself, and fills the column
/// for the reverse direction. O(n log n). If stopped, the order of the table is undefined.
void buildBackwards(Trace& trace, const std::stop_token& stop);

/// Assigns Python stacks to calls, ranges and CUDA graph nodes of threads without Python.
/// - They get the latest earlier stack of the main thread of their process, which waits for them,
///   as in PyTorch's backward.
/// - If the main thread has no stacks, they get the latest stack of any thread.
/// - Then copied nodes get the stack of their original, and nodes are sorted by process and number.
///
/// Requires that all tables are sorted by time. O(n), O(n log n) in nodes.
void buildStacks(Trace& trace, const std::stop_token& stop);

/// Fills `projections`. A projection exists for each stream and NVTX range other than Python
/// functions. It spans the first start to the last end of the GPU work whose launching call starts
/// within the range on its thread. Requires `Trace::links`. O((calls + ranges) log calls + ranges *
/// streams used by their thread). If stopped, `projections` is unchanged.
void buildProjections(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
