// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/compare/ComparisonView.h"
#include "model/compare/StepBars.h"
#include "model/compare/counterDifferences.h"
#include "model/trace/Trace.h"

namespace lanescope::views {

/// What one comparison of a baseline with one or more candidates came to. Immutable.
struct ComparedRuns {
    struct Side {
        TracePtr trace;
        StepSelection selection;
        compare::RunSummary summary;
    };
    Side baseline;  ///< Of several runs a side the one on the screen.
    std::vector<Side> candidates;
    /// All runs of either program, where each is more than one run or both are; else empty. Their
    /// workers stand in the order of the first run's.
    std::vector<Side> baselineRuns, candidateRuns;
    std::vector<compare::RunComparison> comparisons;  ///< By candidate.
    /// By candidate, over the compared steps of the pair that its answer is about.
    std::vector<std::vector<compare::CounterDifference>> counters;
};

using ComparedRunsPtr = std::shared_ptr<const ComparedRuns>;

/// Which candidate, and which pair of workers of its comparison, is on the screen.
struct ComparedPair {
    const ComparedRuns& runs;
    size_t candidate = 0;
    uint32_t pair = 0;

    const compare::WorkerComparison& workers() const {
        return runs.comparisons[candidate].workers[pair];
    }
    const compare::WorkerSummary& baselineWorker() const {
        return runs.baseline.summary.workers[workers().baselineWorker];
    }
    const compare::WorkerSummary& candidateWorker() const {
        return runs.candidates[candidate].summary.workers[workers().candidateWorker];
    }
    /// Of several runs a side, how far the median steps of these workers lie apart; else nothing.
    compare::RunBand baselineBand() const;
    compare::RunBand candidateBand() const;
    /// The candidate on the screen, then all others; those without a counterpart of the baseline's
    /// worker have no numbers.
    compare::ComparisonView view() const;
};

}  // namespace lanescope::views
