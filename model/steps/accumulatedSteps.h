// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steps/StepSelection.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Makes one step of the batches that a program marks where it updates its weights only after
/// every so many of them: where the ranges are called batches, and kernels of an optimizer are
/// launched in every n-th of them alone, in all workers alike. Batches before the first and after
/// the last whole step are left out. O(n log n) in the kernels.
void joinAccumulated(const Trace& trace, RunSteps& run);

}  // namespace lanescope
