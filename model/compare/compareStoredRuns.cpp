// SPDX-License-Identifier: Apache-2.0
#include "model/compare/compareStoredRuns.h"

#include <optional>

#include "model/compare/storedSummary.h"

namespace lanescope::compare {

StoredComparisonPtr compareStoredRuns(const std::filesystem::path& baseline,
                                      const std::filesystem::path& candidate) {
    std::optional<RunSummary> before = readRunSummary(baseline);
    if (!before) return nullptr;
    std::optional<RunSummary> after = readRunSummary(candidate);
    if (!after) return nullptr;
    auto stored = std::make_shared<StoredComparison>();
    stored->baseline = std::move(*before);
    stored->candidate = std::move(*after);
    stored->comparison =
        compareRuns(BaselineRun{stored->baseline}, CandidateRun{stored->candidate});
    const WorkerComparison* pair = stored->comparison.criticalPair();
    if (!pair || pair->baselineWorker == noIndex || pair->candidateWorker == noIndex)
        return nullptr;
    return stored;
}

}  // namespace lanescope::compare
