// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Several runs of one program combined into one.
struct PooledRuns {
    /// Steps of all runs in sequence; contributors summed; the facts of the first run, with all losses.
    analysis::RunSummary summary;
    /// For each run the worker that corresponds to each of `summary.workers`.
    std::vector<std::vector<uint32_t>> workers;
};

/// Combines runs: a mean step is that of all, and contributors still sum to it. `side` is for errors: "baseline". Fails
/// if there are no runs, if one has no steps, or if their numbers of workers differ. Linear except for name lookups.
Result<PooledRuns> poolRuns(RunGroup runs, std::string_view side);

/// With fewer runs per side a drift cannot be distinguished from chance.
inline constexpr size_t minAlternatingRuns = 3;

/// Order of recording of each run among those of both sides; empty if not recorded alternately.
struct RunTurns {
    std::vector<double> baseline, candidate;
};

/// Returns the order of runs recorded alternately: on one host, equally many per side, at least `minAlternatingRuns`,
/// and of each consecutive two from the first on, one of each side. `bench` records runs this way. O(n log n).
RunTurns runTurns(RunGroup baseline, RunGroup candidate);

/// Comparison of two runs by the summaries stored in their traces. Immutable; the answer's pair has both sides.
struct StoredComparison {
    analysis::RunSummary baseline, candidate;
    RunComparison comparison;

    const WorkerComparison& pair() const { return comparison.workers[comparison.critical]; }
    const analysis::WorkerSummary& baselineWorker() const { return baseline.workers[pair().baselineWorker]; }
    const analysis::WorkerSummary& candidateWorker() const { return candidate.workers[pair().candidateWorker]; }
};

using StoredComparisonPtr = std::shared_ptr<const StoredComparison>;

/// Compares two trace files without reading events. The answer is that of all steps, as if the traces had been loaded
/// and summarized. Null without trusted summaries (`readRunSummary`) or steps. O(steps); any thread.
StoredComparisonPtr compareStoredRuns(const std::filesystem::path& baseline, const std::filesystem::path& candidate);

}  // namespace lanescope::compare
