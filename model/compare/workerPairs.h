// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// Workers of two runs that stand in the same place: indices into `RunSummary::workers`.
struct WorkerPair {
    uint32_t baseline;
    uint32_t candidate;
};

/// Pairs workers by rank, where each has one of its own, else in order. What has no counterpart is
/// left out. Quadratic in the workers.
std::vector<WorkerPair> workerPairs(const RunSummary& baseline, const RunSummary& candidate);

}  // namespace lanescope::compare
