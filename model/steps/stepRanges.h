// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/steps/WorkerLaunches.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The NVTX ranges of one name pattern in a process.
struct StepRanges {
    uint32_t process = 0;
    uint32_t thread = 0;         ///< That has most of them.
    std::vector<uint32_t> rows;  ///< Of `NvtxTable`, by start, not overlapping.
};

/// The name pattern that looks most like the steps of the run; empty if none does. Ranges that were
/// never closed, NCCL's own, operators and Python functions do not count.
///
/// The ranges of a pattern can be steps if there are enough in a process (`fewestStepsOf`), most of
/// them launch work for its GPUs before the next begins, no word of the name says that something is
/// compiled or tuned, and it is no collective of PyTorch's. What neither is called steps, batches
/// or requests nor holds nearly all that is launched from its first range on, has to come about
/// evenly, too, or it may be anything: most of the later half begin about as long after the one
/// before. What torch.profiler calls a step comes first. Those that go on until
/// half of all work has been launched come before those that do not. Of the
/// patterns that launch at least half as much work, by its time on the GPU, as any other, one with
/// a word for steps (step, iteration, iter, it, batch) comes before one with a word for requests
/// where nothing is trained, that before one without, and that before epochs. Then the one counts
/// that launches most, of equals the one that takes longest on the CPU, as it holds the others,
/// then the first. O(n log n) in the ranges.
std::string findStepPattern(const Trace& trace, const std::vector<WorkerLaunches>& launches);
std::string findStepPattern(const Trace& trace);

/// How many ranges of that pattern a process has to have, for them to be its steps: three, two
/// where a word of the name says that they are, and one of torch.profiler's.
size_t fewestStepsOf(std::string_view pattern);

/// The ranges called `name`, or like it if it holds a '#', of each process that has any. Ranges
/// that begin within another of them are left out, open ones too. Those of several threads count
/// together if hardly any of them overlap, as where a pool of threads takes turns; else those of
/// the thread that has most. O(n).
std::vector<StepRanges> stepRangesNamed(const Trace& trace, std::string_view name);

}  // namespace lanescope
