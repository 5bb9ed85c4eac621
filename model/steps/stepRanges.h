// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// The NVTX ranges of one name pattern, on the thread of a process that has most of them.
struct StepRanges {
    uint32_t process = 0;
    uint32_t thread = 0;
    std::vector<uint32_t> rows;  ///< Of `NvtxTable`, by start, not overlapping.
};

/// The name pattern that looks most like the steps of the run; empty if no range repeats at least
/// three times in a process. Ranges that were never closed, NCCL's own, operators and Python
/// functions do not count. A pattern with a word for steps (step, iteration, iter, batch) wins, if
/// it covers at least half as much time as any other; else the one that covers most, of equals the
/// first in the step. O(n log n) in the ranges.
std::string findStepPattern(const Trace& trace);

/// The ranges called `name`, or like it if it holds a '#', of each process that has any. Ranges
/// that begin within another of them are left out, open ones too. O(n).
std::vector<StepRanges> stepRangesNamed(const Trace& trace, std::string_view name);

}  // namespace lanescope
