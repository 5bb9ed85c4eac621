// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Returns true if two traces are of one recording, such as copies, excerpts and exports: they contain a process with
/// the same id that did its steps at the same time of day on the same host. No machine has two such processes. Exports
/// have no host, which matches any. If the time of recording is unknown, equal content decides
/// (`SummaryFacts::contentHash`). False for pooled runs. O(workers of one * workers of the other); any thread.
bool isSameRecording(const analysis::RunSummary& one, const analysis::RunSummary& other);

/// Returns the NVLink traffic of both runs per step, and its evidence: "NVLink, sent by each GPU per
/// step: baseline 222.4 MiB (used; computed from NCCL); candidate 0 B (not used; by its counters)."
/// Unknown traffic is reported as unknown. Empty if both runs had one GPU only.
std::string nvlinkSentence(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

/// Returns true if only one run used NVLink, or if their amounts differ by more than a tenth.
bool isNvlinkUseOther(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

/// Returns the GPUs with work, grouped by name: "2 x NVIDIA H200".
std::string gpusText(const analysis::SummaryFacts& facts);

/// Returns the known differences between the machines of two runs: "driver", "SM clock".
std::vector<std::string_view> machineDifferences(const analysis::SummaryFacts& baseline,
                                                 const analysis::SummaryFacts& candidate);

/// Returns reasons to doubt a comparison, most significant first: differences of machine and recording, losses.
std::vector<std::string> cautionsOf(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

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
