// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Sorts every table of events by start, of those that start together the longest first, and keeps
/// `nccl` pointing to its rows of `nvtx`. O(n) for tables that are sorted already.
/// Stopped, it leaves tables that are as long as before, in no order.
void sortTables(Trace& trace, unsigned threads, const std::stop_token& stop);

}  // namespace lanescope
