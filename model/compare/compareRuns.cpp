// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/compare/RunComparison.h"
#include "model/compare/answer.h"
#include "model/compare/answerSentences.h"
#include "model/compare/cautions.h"
#include "model/compare/compareWorkers.h"
#include "model/compare/patternDifferences.h"
#include "model/compare/workerPairs.h"

namespace lanescope::compare {

namespace {

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
            outliers.push_back({isCandidate, step.run.empty() ? worker.label() : step.run, step});
}

}  // namespace

std::string_view name(Outcome outcome) {
    static constexpr std::array<std::string_view, 9> all{
        "nothing",      "too few steps", "steps alike",
        "longer steps", "shorter steps", "within run-to-run spread",
        "slower",       "faster",        "parts changed"};
    return all[static_cast<size_t>(outcome)];
}

std::string_view identifier(Outcome outcome) {
    static constexpr std::array<std::string_view, 9> all{
        "nothing",      "too_few_steps", "alike",  "longer",       "shorter",
        "within_noise", "slower",        "faster", "parts_changed"};
    return all[static_cast<size_t>(outcome)];
}

std::string_view identifier(ClaimUnit unit) {
    return unit == ClaimUnit::Runs ? "runs" : "steps";
}

std::string_view identifier(QuantityKind kind) {
    return kind == QuantityKind::Part ? "part" : "idle_in_range";
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

void answer(RunComparison& comparison, const RunSummary& baseline, const RunSummary& candidate) {
    comparison.answer = answerOf(comparison, baseline, candidate);
    comparison.answer.cautions = cautionsOf(baseline, candidate);
    sayAnswer(comparison, baseline, candidate);
    // It may be all there is to it, so it stands before the verdict.
    const auto differences = machineDifferences(baseline.facts, candidate.facts);
    if (differences.empty() || comparison.answer.outcome == Outcome::Nothing) return;
    const std::string first =
        fmt::format("The machines differ ({}). ", fmt::join(differences, ", "));
    comparison.answer.sentence.insert(0, first);
    comparison.answer.clauses.insert(comparison.answer.clauses.begin(), Clause{first});
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
    for (const WorkerPair& pair : workerPairs(before, after)) {
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
    comparison.patterns = patternDifferences(comparison.workers, before, after);
    answer(comparison, before, after);
    return comparison;
}

}  // namespace lanescope::compare
