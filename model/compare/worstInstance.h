// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/compare/RunComparison.h"
#include "model/steps/StepSelection.h"

namespace lanescope::compare {

/// One run as a comparison saw it: what is needed to find single events in it again.
struct InstanceSide {
    const Trace& trace;
    StepSelection selection;  ///< The summary was made with it.
    const WorkerSummary& worker;
};

/// What a row of a comparison is about.
struct InstanceQuery {
    StepPart part = StepPart::Compute;
    ContributorKind kind = ContributorKind::Kernel;
    std::string baselineName, candidateName;  ///< Empty where that run has nothing like it.
    std::string baselinePath, candidatePath;
};

/// The place where the candidate lost most against the baseline.
struct WorstInstance {
    size_t step = 0;    ///< Place among the compared steps of both runs.
    EventRef baseline;  ///< Invalid where the run has none in that step, and for idle time.
    EventRef candidate;
    int64_t lostNs = 0;  ///< By this one.
    bool isFound = false;
};

/// Sets the instances of a contributor against each other, the n-th of a step against the n-th of
/// the same step, and gives the pair that the candidate lost most time with; one without a partner
/// stands against nothing. Instances on the path of the query count; if that run has none there,
/// those of the name on any path. For idle time, which has no events, the step whose part grew
/// most. O(n log n) in the events of both runs; any thread.
WorstInstance worstInstance(const InstanceSide& baseline, const InstanceSide& candidate,
                            const InstanceQuery& query);

}  // namespace lanescope::compare
