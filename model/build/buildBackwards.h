// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Sorts `backwards` by the rows of the sorted ranges, leaves out what is there twice or is the
/// backward of itself, and fills the column of those from the other end. O(n log n). Stopped, it
/// leaves the table in no order.
void buildBackwards(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
