// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/groupKernels.h"

namespace lanescope::analysis {

/// Returns the large copies of a worker's steps that waited for another stream, and those that return data. `work` is
/// sorted by start. O(n log n) in the copies, the waits of streams and the work.
HostCopies hostCopies(const RunContext& run, const WorkList& work, const WorkerSteps& steps, const WorkPlaces& places);

}  // namespace lanescope::analysis
