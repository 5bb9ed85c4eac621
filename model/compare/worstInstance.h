// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/analysis/StepSelection.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// One compared run: data to find single events in it again.
struct InstanceSide {
    const Trace& trace;
    StepSelection selection;  ///< Selection of the summary.
    const analysis::WorkerSummary& worker;
};

/// Place of the candidate's largest loss against the baseline.
struct WorstInstance {
    size_t step = 0;  ///< Index among the compared steps of both runs.
    /// Invalid if the run has none in that step. For idle time the work that ended the longest gap of that cause.
    EventRef baseline, candidate;
    TimeRange baselineGap, candidateGap;  ///< For idle time; else empty.
    int64_t lostNs = 0;                   ///< Loss of this instance.
    bool isFound = false;
};

/// Pairs the n-th instance of a contributor in a step with the n-th of the same step, and returns the pair with the
/// candidate's largest loss. An instance without a counterpart is compared with nothing. Uses instances on the query's
/// path, or of the name on any path if there are none. For idle time: the step whose part grew most, and in it the
/// longest gap of that cause, or else of that part. O(n log n) in the events of both runs; any thread.
WorstInstance worstInstance(const InstanceSide& baseline, const InstanceSide& candidate, const InstanceQuery& query);

/// Evidence of a fact in one run.
struct EvidenceSide {
    std::optional<size_t> step;  ///< Index among the compared steps.
    TimeRange range;             ///< Range of the trace; empty if this run has nothing like it.
    EventRef event;              ///< Event to select; for idle time the work that ended it.
};

/// Evidence of a clause of the sentence in both runs.
struct Evidence {
    EvidenceSide baseline, candidate;
    bool isFound() const { return baseline.step || candidate.step; }
};

/// Finds the evidence of a clause. A step is shown by its longest piece of work on the worker's GPU, a cause by its
/// worst instance (`worstInstance`). A run without an instance shows the corresponding step. Finds nothing for words,
/// or in runs without steps. O(n log n) in the events of both runs; any thread.
Evidence evidenceOf(const Clause& clause, const InstanceSide& baseline, const InstanceSide& candidate);

}  // namespace lanescope::compare
