#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Sorts every table of events by start, of those that start together the longest first, and keeps
/// `nccl` pointing to its rows of `nvtx`. O(n) for tables that are sorted already.
void sortTables(Trace& trace, unsigned threads);

}  // namespace lanescope
