// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// A step of the candidate against the step of the baseline that stands in its place: the first
/// compared against the first compared, and so on.
struct StepDifference {
    int64_t number = 0;  ///< Of the candidate's step.
    std::string name;
    int64_t baselineStartNs = 0, baselineNs = 0;
    int64_t candidateStartNs = 0, candidateNs = 0;
    int64_t lostInAllNs = 0;  ///< By this step and all before it.
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// As many as both workers have. Linear.
std::vector<StepDifference> stepDifferences(const WorkerSummary& baseline,
                                            const WorkerSummary& candidate);

}  // namespace lanescope::compare
