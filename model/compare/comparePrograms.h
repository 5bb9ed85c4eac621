// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Runs of one program as one.
struct PooledRuns {
    /// Steps of all runs after each other; contributors summed; of the facts those of the first
    /// run, with all losses.
    analysis::RunSummary summary;
    /// For each run the worker that stands for each of `summary.workers`.
    std::vector<std::vector<uint32_t>> workers;
};

/// Puts runs together, so that a mean step is that of all runs and its contributors still sum to
/// it. `side` is for errors: "baseline". Fails if there are no runs, if one has no steps or if they
/// have not the same number of workers. Linear but for looking up names.
Result<PooledRuns> poolRuns(RunGroup runs, std::string_view side);

/// Of fewer runs a side too little is left to tell a drift from chance.
inline constexpr size_t fewestRunsByTurns = 3;

/// When each run of two sides was recorded, as its place among all of them; empty if they were not
/// recorded by turns.
struct RunTurns {
    std::vector<double> baseline, candidate;
};

/// By turns: on one host, as many runs a side, at least `fewestRunsByTurns`, and of each two that
/// follow each other from the first on, one of each side. What `bench` leaves. O(n log n).
RunTurns runTurns(RunGroup baseline, RunGroup candidate);

/// Two runs compared by the summaries that are stored in their traces. Immutable; there is a pair
/// that the answer is about, and it has both sides.
struct StoredComparison {
    analysis::RunSummary baseline, candidate;
    RunComparison comparison;

    const WorkerComparison& pair() const { return comparison.workers[comparison.critical]; }
    const analysis::WorkerSummary& baselineWorker() const {
        return baseline.workers[pair().baselineWorker];
    }
    const analysis::WorkerSummary& candidateWorker() const {
        return candidate.workers[pair().candidateWorker];
    }
};

using StoredComparisonPtr = std::shared_ptr<const StoredComparison>;

/// Compares two trace files without reading an event: the answer is that of all steps, as if the
/// traces had been loaded and summed up. Null if either has no stored summary that can be trusted
/// (see `readRunSummary`), or if they have no steps to compare. O(steps); any thread.
StoredComparisonPtr compareStoredRuns(const std::filesystem::path& baseline,
                                      const std::filesystem::path& candidate);

}  // namespace lanescope::compare
