// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Two runs compared by the summaries that are stored in their traces. Immutable; there is a pair
/// that the answer is about, and it has both sides.
struct StoredComparison {
    RunSummary baseline, candidate;
    RunComparison comparison;

    const WorkerComparison& pair() const { return comparison.workers[comparison.critical]; }
    const WorkerSummary& baselineWorker() const { return baseline.workers[pair().baselineWorker]; }
    const WorkerSummary& candidateWorker() const {
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
