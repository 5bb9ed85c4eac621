// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

}  // namespace lanescope
