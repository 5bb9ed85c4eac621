// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/KernelGroup.h"
#include "model/analysis/WorkPlaces.h"

namespace lanescope::analysis {

/// Returns the purpose of launches by the rows of `Trace::stacks`; an inner frame precedes outer ones. O(stacks).
std::vector<LaunchPurpose> launchPurposes(const Trace& trace);

/// Returns the groups of the compute kernels in the steps of a worker, those with most time first. `contributors` are
/// those of `work`, summed up. O(n) in the work.
std::vector<KernelGroup> groupKernels(const RunContext& run, const WorkList& work, const WorkerSteps& steps,
                                      std::span<const Contributor> contributors,
                                      std::span<const LaunchPurpose> purposes, const WorkPlaces& places);

}  // namespace lanescope::analysis
