// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Compares launches with their GPU work. Sets `Gpu::isClockInconsistent`. Notes GPUs with times that no launch
/// explains, and processes that launched work of which the trace has nothing. Requires sorted tables and links. O(n).
void checkLaunches(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
