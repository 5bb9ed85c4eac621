// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Joins the recorded allocations and frees by process and address, makes the counters of memory in
/// use, and says in the health what does not match. The tables of memory must be sorted and the
/// ranges of the processes known. O(n log n).
/// Stopped, it leaves memory out.
void buildMemory(Trace& trace, const std::stop_token& stop);

/// Gives the samples of all counters their rows; a counter without samples, or one whose samples
/// would be more than a table can hold, goes.
void numberSamples(Trace& trace);

}  // namespace lanescope
