// SPDX-License-Identifier: Apache-2.0
#include "model/compare/workerPairs.h"

#include <algorithm>

namespace lanescope::compare {

namespace {

/// The worker of `run` with that rank on its first GPU, or `noIndex`.
uint32_t workerOfRank(const RunSummary& run, std::optional<int> rank) {
    for (uint32_t index = 0; index < run.workers.size(); ++index)
        if (rank && run.workers[index].rank == rank) return index;
    return noIndex;
}

bool haveOneWorkerARank(const RunSummary& run) {
    for (uint32_t index = 0; index < run.workers.size(); ++index)
        if (workerOfRank(run, run.workers[index].rank) != index) return false;
    return true;
}

}  // namespace

std::vector<WorkerPair> workerPairs(const RunSummary& baseline, const RunSummary& candidate) {
    std::vector<WorkerPair> pairs;
    if (haveOneWorkerARank(baseline) && haveOneWorkerARank(candidate)) {
        for (uint32_t index = 0; index < candidate.workers.size(); ++index) {
            const uint32_t other = workerOfRank(baseline, candidate.workers[index].rank);
            if (other != noIndex) pairs.push_back({other, index});
        }
    }
    if (!pairs.empty()) return pairs;
    const size_t count = std::min(baseline.workers.size(), candidate.workers.size());
    for (uint32_t index = 0; index < count; ++index) pairs.push_back({index, index});
    return pairs;
}

}  // namespace lanescope::compare
