// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/compare/Lead.h"
#include "model/compare/RunComparison.h"
#include "model/steps/StepSelection.h"

namespace lanescope::compare {

/// One run as a comparison saw it: what is needed to find single events in it again.
struct InstanceSide {
    const Trace& trace;
    StepSelection selection;  ///< The summary was made with it.
    const WorkerSummary& worker;
};

/// The place where the candidate lost most against the baseline.
struct WorstInstance {
    size_t step = 0;  ///< Place among the compared steps of both runs.
    /// Invalid where the run has none in that step. Of idle time the work that ended the longest
    /// gap of that cause.
    EventRef baseline, candidate;
    TimeRange baselineGap, candidateGap;  ///< Of idle time; else empty.
    int64_t lostNs = 0;                   ///< By this one.
    bool isFound = false;
};

/// Sets the instances of a contributor against each other, the n-th of a step against the n-th of
/// the same step, and gives the pair that the candidate lost most time with; one without a partner
/// stands against nothing. Instances on the path of the query count; if that run has none there,
/// those of the name on any path. For idle time the step whose part grew
/// most, and in it the longest gap of that cause, or else of that part. O(n log n) in the events of
/// both runs; any thread.
WorstInstance worstInstance(const InstanceSide& baseline, const InstanceSide& candidate,
                            const InstanceQuery& query);

}  // namespace lanescope::compare
