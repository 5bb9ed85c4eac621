// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Groups units into steps if they are parts of something larger, in all workers alike:
///
/// - weights are updated in every n-th unit only: optimizer kernels run there, as with accumulated gradients;
/// - the numbers in the names of ranges begin again after every n-th, as those of layers.
///
/// Ranges that the program calls steps or requests stay as they are. Units before the first and after the last whole
/// step are skipped. O(n log n) in the kernels.
void groupParts(const Trace& trace, RunSteps& run);

/// Times at which the optimizer kernels of a run were launched.
class WeightUpdates {
  public:
    /// O(n) in the kernels.
    explicit WeightUpdates(const Trace& trace);
    /// Returns the share of the marks of a process in which weights are updated. O(n log n) in the marks.
    double shareOf(const StepMarks& marks) const;

  private:
    std::vector<std::vector<int64_t>> timesNs_;  ///< By process, ascending.
};

/// Returns true if a trace shows training: a range, kernel or thread named like the backward pass or an optimizer, or a
/// collective that sums gradients (AllReduce, ReduceScatter). O(ranges + calls of NCCL + launch configurations).
bool isTraining(const Trace& trace);

/// Returns true if a name means requests: one of its words is request, query or req.
bool isRequestName(std::string_view pattern);
/// Returns true for such ranges in a trace without training.
bool areRequestsNamed(const Trace& trace, std::string_view pattern);

/// Marks steps as requests of a server if samples between them show that:
///
/// - nothing is trained (`isTraining`), and they are not called steps, iterations or batches,
/// - the launching thread waited for input or to be woken for most of the time between the last work of one and the
///   first of the next, and for at least a tenth of all time, not in a data loader,
/// - meanwhile the rest of the program also waited, and did not prepare the next,
/// - they come irregularly, as events from outside do.
///
/// In doubt they stay steps. Each request then ends with its work. O(n log n) in the GPU work.
void markRequests(const Trace& trace, RunSteps& run);

}  // namespace lanescope
