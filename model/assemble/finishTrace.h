// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Finishes a trace with filled tables: sorts them, finds time ranges, ends open NVTX ranges, and builds depths, links,
/// projections, tracks and sums. Every index in the tables must be valid. If the end of a process is known, its range
/// must contain it as `endNs`. Uses `threads` threads. The result does not depend on their number. O(n log n). Returns
/// false soon after any thread requests `stop`. The trace can then only be freed.
bool finishTrace(Trace& trace, unsigned threads = 1, const std::stop_token& stop = {});

}  // namespace lanescope
