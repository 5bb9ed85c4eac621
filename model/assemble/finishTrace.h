// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Makes a trace out of filled tables: sorts them, finds the ranges of time, ends open NVTX ranges,
/// and builds depths, links, projections, tracks and sums. Every index in the tables must be valid.
/// Where the end of a process is known, its range holds it beforehand, as `endNs`. Uses as many
/// `threads`; what it makes is the same for any number. O(n log n). Once `stop` is requested, by
/// any thread, it soon returns false; the trace is then good for nothing but to be freed.
bool finishTrace(Trace& trace, unsigned threads = 1, const std::stop_token& stop = {});

}  // namespace lanescope
