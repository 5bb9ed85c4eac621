// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/compare/Lead.h"
#include "model/compare/worstInstance.h"

namespace lanescope::compare {

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
