// SPDX-License-Identifier: Apache-2.0
#include "model/compare/stepDifferences.h"

#include <algorithm>

#include "model/values/Statistics.h"

namespace lanescope::compare {

std::vector<StepDifference> stepDifferences(const WorkerSummary& baseline,
                                            const WorkerSummary& candidate) {
    std::vector<StepDifference> steps(std::min(baseline.steps.size(), candidate.steps.size()));
    int64_t lostNs = 0;
    for (size_t index = 0; index < steps.size(); ++index) {
        const StepSummary& before = baseline.steps[index];
        const StepSummary& after = candidate.steps[index];
        lostNs = saturatingSum(lostNs, after.wallNs - before.wallNs);
        steps[index] = {after.number,  after.name,   before.startNs, before.wallNs,
                        after.startNs, after.wallNs, lostNs};
    }
    return steps;
}

}  // namespace lanescope::compare
