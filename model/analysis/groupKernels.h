// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/WorkPlaces.h"

namespace lanescope::analysis {

/// Returns the purpose of launches by the rows of `Trace::stacks`; an inner frame precedes outer ones. O(stacks).
std::vector<LaunchPurpose> launchPurposes(const Trace& trace);

/// Returns the groups of the compute kernels in the steps of a worker, those with most time first. `contributors` are
/// those of `work`, summed up. O(n) in the work.
std::vector<KernelGroup> groupKernels(const RunContext& run, const WorkList& work, const WorkerSteps& steps,
                                      std::span<const Contributor> contributors,
                                      std::span<const LaunchPurpose> purposes, const WorkPlaces& places);

/// Returns the kernels of a worker; without groups of their own, by the names of its contributors.
std::vector<KernelGroup> kernelsOf(const WorkerSummary& worker);

/// The compute time of a family of kernels in the steps of a worker.
struct FamilySum {
    KernelFamily family = KernelFamily::Other;
    KernelPrecision precision = KernelPrecision::Unknown;  ///< Type of more than half of the products.
    int64_t count = 0;
    int64_t exposedNs = 0;
    std::string name = {};      ///< The kernel with most time.
    std::string launched = {};  ///< Its line, as `KernelGroup::launched`.

    bool operator==(const FamilySum&) const = default;
};

/// Returns the families, largest first; they sum to the compute time of the steps.
std::vector<FamilySum> familySums(const WorkerSummary& worker);

}  // namespace lanescope::analysis
