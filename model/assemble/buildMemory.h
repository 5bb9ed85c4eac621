// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Matches recorded allocations and frees by process and address, adds counters of the memory in
/// use, and notes mismatches in the health. Requires sorted memory tables and known process ranges.
/// If stopped, memory is missing. O(n log n).
void buildMemory(Trace& trace, const std::stop_token& stop);

/// Assigns rows to the samples of all counters. Removes counters without samples and counters that
/// would exceed the maximum length of a table.
void numberSamples(Trace& trace);

}  // namespace lanescope
