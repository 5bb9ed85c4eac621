// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/GpuWork.h"
#include "model/compare/RunSummary.h"
#include "model/steps/StepSelection.h"

namespace lanescope::compare {

/// Explains the steps of one process on one of its GPUs: parts, contributors, outliers. Who the
/// worker is (`pid`, `rank` ...) is left to the caller.
WorkerSummary summarizeWorker(const RunContext& run, const WorkerSteps& steps);

}  // namespace lanescope::compare
