// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Gives calls, ranges and nodes of CUDA graphs of threads that run no Python the stack for which
/// they work: that of the last of them before of the main thread of their process, which waits for
/// them, as in PyTorch's backward. Where the main thread has no stacks, that of the last of any
/// thread. Then gives nodes that are copies the stack of what they are copies of, and sorts nodes
/// by process and number. Once all are sorted by time. O(n), O(n log n) in nodes.
void buildStacks(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
