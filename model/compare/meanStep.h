// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// The mean step of a worker in multiples of a quantum, rounded so that all of it sums up.
struct MeanStep {
    int64_t ns = 0;
    StepParts parts;                 ///< They sum to `ns`.
    std::vector<int64_t> exposedNs;  ///< By contributor; those of a part sum to it.
};

/// All 0 without steps. O(parts * contributors).
MeanStep meanStep(const WorkerSummary& worker, int64_t quantumNs);

}  // namespace lanescope::compare
