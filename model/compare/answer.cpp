// SPDX-License-Identifier: Apache-2.0
#include "model/compare/answer.h"

#include <algorithm>

#include "model/compare/causes.h"

namespace lanescope::compare {

namespace {

/// The longest step of the candidate that stands out, if it does so more than any of the baseline,
/// and those that lost their time as it did.
std::vector<uint32_t> tellingOutliers(const std::vector<RunOutlier>& outliers) {
    const RunOutlier* longest = nullptr;
    int64_t baselineNs = 0;
    for (const RunOutlier& outlier : outliers) {
        if (!outlier.isCandidate)
            baselineNs = std::max(baselineNs, outlier.step.excessNs);
        else if (!longest || outlier.step.excessNs > longest->step.excessNs)
            longest = &outlier;
    }
    if (!longest || longest->step.excessNs <= baselineNs) return {};
    std::vector<uint32_t> telling{static_cast<uint32_t>(longest - outliers.data())};
    for (const RunOutlier& other : outliers)
        if (&other != longest && other.isCandidate && other.worker == longest->worker &&
            other.step.part == longest->step.part &&
            other.step.contributor == longest->step.contributor &&
            other.step.path == longest->step.path)
            telling.push_back(static_cast<uint32_t>(&other - outliers.data()));
    return telling;
}

bool isAlike(Outcome outcome) {
    return outcome == Outcome::Alike || outcome == Outcome::WithinNoise;
}

}  // namespace

Answer answerOf(const RunComparison& comparison, const RunSummary& baseline,
                const RunSummary& candidate) {
    Answer answer;
    const WorkerComparison* pair = comparison.criticalPair();
    if (!pair) return answer;
    answer.outcome = pair->claim.outcome;
    if (answer.outcome == Outcome::Nothing) return answer;
    answer.causes = causesOf(*pair, baseline, candidate);
    if (isAlike(answer.outcome)) {
        // Amounts within noise have no cause; what the program does otherwise is a fact all the
        // same, and so is what is certain of a part of the step.
        std::erase_if(answer.causes, [](const Cause& cause) {
            return !cause.isChangeOfKind && !cause.isCertain();
        });
        if (std::any_of(answer.causes.begin(), answer.causes.end(),
                        [](const Cause& cause) { return cause.isCertain(); }))
            answer.outcome = Outcome::PartsChanged;
        answer.tellingOutliers = tellingOutliers(comparison.outliers);
    }
    return answer;
}

}  // namespace lanescope::compare
