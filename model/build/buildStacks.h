// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Gives calls of threads that run no Python the stack for which they work: that of the last call
/// before theirs of the main thread of their process, which waits for them, as in PyTorch's
/// backward. Where the main thread has no stacks, that of the last call of any thread. Once the
/// calls are sorted. O(n).
void buildStacks(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
