// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "model/compare/RunComparison.h"
#include "model/compare/answer.h"
#include "model/compare/answerSentences.h"
#include "model/compare/cautions.h"
#include "model/compare/compareWorkers.h"

namespace lanescope::compare {

namespace {

struct WorkerPair {
    uint32_t baseline;
    uint32_t candidate;
};

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

std::vector<WorkerPair> pairsOf(const RunSummary& baseline, const RunSummary& candidate) {
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

/// The pair that decides how fast both runs are: that of the slower run's critical worker, since
/// what holds that run up happens there. The first pair if that worker has no counterpart.
uint32_t criticalPairOf(const std::vector<WorkerComparison>& pairs, const RunSummary& baseline,
                        const RunSummary& candidate) {
    if (pairs.empty()) return noIndex;
    int64_t lostNs = 0;
    for (const WorkerComparison& pair : pairs) lostNs += pair.lostNs();
    const uint32_t critical = lostNs >= 0 ? candidate.criticalWorker() : baseline.criticalWorker();
    for (uint32_t index = 0; index < pairs.size(); ++index)
        if ((lostNs >= 0 ? pairs[index].candidateWorker : pairs[index].baselineWorker) == critical)
            return index;
    return 0;
}

void addOutliers(const RunSummary& run, bool isCandidate, std::vector<RunOutlier>& outliers) {
    for (const WorkerSummary& worker : run.workers)
        for (const OutlierStep& step : worker.outliers)
            outliers.push_back({isCandidate, worker.label(), step});
}

}  // namespace

std::string_view name(Outcome outcome) {
    static constexpr std::array<std::string_view, 5> all{"nothing", "too few steps", "within noise",
                                                         "slower", "faster"};
    return all[static_cast<size_t>(outcome)];
}

std::string_view identifier(Outcome outcome) {
    static constexpr std::array<std::string_view, 5> all{"nothing", "too_few_steps", "within_noise",
                                                         "slower", "faster"};
    return all[static_cast<size_t>(outcome)];
}

std::string_view name(MatchKind kind) {
    static constexpr std::array<std::string_view, 4> all{"same name", "same position",
                                                         "only in baseline", "only in candidate"};
    return all[static_cast<size_t>(kind)];
}

std::string_view identifier(MatchKind kind) {
    static constexpr std::array<std::string_view, 4> all{"same_name", "same_position",
                                                         "only_baseline", "only_candidate"};
    return all[static_cast<size_t>(kind)];
}

const std::string& ContributorDifference::name() const {
    return match == MatchKind::OnlyBaseline ? baseline.name : candidate.name;
}

RunComparison compareRuns(BaselineRun baseline, CandidateRun candidate) {
    const RunSummary& before = baseline.summary;
    const RunSummary& after = candidate.summary;
    RunComparison comparison;
    comparison.baseline = before.facts;
    comparison.candidate = after.facts;
    comparison.baselineSource = before.source;
    comparison.candidateSource = after.source;
    comparison.baselinePattern = before.pattern;
    comparison.candidatePattern = after.pattern;
    for (const WorkerPair& pair : pairsOf(before, after)) {
        ComparedWorkers workers =
            compareWorkers(before.workers[pair.baseline], after.workers[pair.candidate]);
        for (WorkerComparison* each : {&workers.shown, &workers.exact}) {
            each->baselineWorker = pair.baseline;
            each->candidateWorker = pair.candidate;
        }
        comparison.workers.push_back(std::move(workers.shown));
        comparison.exact.push_back(std::move(workers.exact));
    }
    comparison.critical = criticalPairOf(comparison.exact, before, after);
    addOutliers(before, false, comparison.outliers);
    addOutliers(after, true, comparison.outliers);
    std::stable_sort(
        comparison.outliers.begin(), comparison.outliers.end(),
        [](const RunOutlier& a, const RunOutlier& b) { return a.step.excessNs > b.step.excessNs; });
    comparison.answer = answerOf(comparison, before, after);
    comparison.answer.cautions = cautionsOf(before, after);
    sayAnswer(comparison, before, after);
    return comparison;
}

}  // namespace lanescope::compare
