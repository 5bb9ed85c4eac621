#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/compare/RunComparison.h"
#include "model/compare/counterDifferences.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What one comparison of a baseline with one or more candidates came to. Immutable.
struct ComparedRuns {
    struct Side {
        TracePtr trace;
        StepSelection selection;
        RunSummary summary;
    };
    Side baseline;
    std::vector<Side> candidates;
    std::vector<RunComparison> comparisons;  ///< By candidate.
    /// By candidate, over the compared steps of the pair that its answer is about.
    std::vector<std::vector<CounterDifference>> counters;
};

using ComparedRunsPtr = std::shared_ptr<const ComparedRuns>;

}  // namespace lanescope
