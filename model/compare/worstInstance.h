// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/analysis/StepSelection.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// One run as a comparison saw it: what is needed to find single events in it again.
struct InstanceSide {
    const Trace& trace;
    StepSelection selection;  ///< The summary was made with it.
    const analysis::WorkerSummary& worker;
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

/// What shows a fact in one run.
struct EvidenceSide {
    std::optional<size_t> step;  ///< Place among the compared ones.
    TimeRange range;             ///< Of the trace; empty if this run has nothing of it.
    EventRef event;              ///< To be selected; of idle time the work that ended it.
};

/// What shows a clause of the sentence in both runs.
struct Evidence {
    EvidenceSide baseline, candidate;
    bool isFound() const { return baseline.step || candidate.step; }
};

/// Finds it: a step by its longest piece of work on the worker's GPU, a cause by its worst
/// instance (`worstInstance`), where a run without one has the step that stands in its place.
/// Nothing is found of words, or in runs without steps. O(n log n) in the events of both runs; any
/// thread.
Evidence evidenceOf(const Clause& clause, const InstanceSide& baseline,
                    const InstanceSide& candidate);

}  // namespace lanescope::compare
