// SPDX-License-Identifier: Apache-2.0
#include "model/compare/compareWorkers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "model/compare/StateWords.h"
#include "model/compare/judgeSteps.h"
#include "model/compare/matchContributors.h"
#include "model/compare/meanStep.h"

namespace lanescope::compare {

namespace {

std::vector<int64_t> wallTimes(const WorkerSummary& worker) {
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : worker.steps) wallNs.push_back(step.wallNs);
    return wallNs;
}

int64_t countOf(const WorkerSummary& worker) {
    return static_cast<int64_t>(worker.steps.size());
}

ContributorShare shareOf(const Contributor& contributor, int64_t steps) {
    ContributorShare share;
    share.name = contributor.name;
    if (steps <= 0) return share;
    share.totalNs = contributor.totalNs / steps;
    share.count = static_cast<double>(contributor.count) / static_cast<double>(steps);
    share.bytes = contributor.bytes / steps;
    const bool isCollective = contributor.kind == ContributorKind::Collective;
    const int64_t moved = isCollective ? contributor.busBytes : contributor.bytes;
    const bool isMeasured = isCollective || contributor.kind == ContributorKind::Copy;
    if (isMeasured && contributor.totalNs > 0)
        share.gigabytesPerSecond =
            static_cast<double>(moved) / static_cast<double>(contributor.totalNs);
    return share;
}

bool standsBefore(const ContributorDifference& a, const ContributorDifference& b) {
    const auto key = [](const ContributorDifference& each) {
        return std::tuple(each.part, -each.lostNs(), -each.candidate.exposedNs);
    };
    return key(a) != key(b) ? key(a) < key(b)
                            : std::tie(a.name(), a.path) < std::tie(b.name(), b.path);
}

std::vector<ContributorDifference> contributorDifferences(
    const WorkerSummary& baseline, const WorkerSummary& candidate, const MeanStep& before,
    const MeanStep& after, const std::vector<ContributorMatch>& matches) {
    std::vector<ContributorDifference> differences;
    const auto side = [](const WorkerSummary& worker, const MeanStep& mean, uint32_t index) {
        if (index == noIndex) return ContributorShare{};
        ContributorShare share = shareOf(worker.contributors[index], countOf(worker));
        share.exposedNs = mean.exposedNs[index];
        return share;
    };
    for (const ContributorMatch& match : matches) {
        ContributorDifference difference;
        difference.match = match.kind;
        const Contributor& known = match.candidate != noIndex
                                       ? candidate.contributors[match.candidate]
                                       : baseline.contributors[match.baseline];
        difference.part = known.part;
        difference.kind = known.kind;
        difference.path = known.path;
        difference.baseline = side(baseline, before, match.baseline);
        difference.candidate = side(candidate, after, match.candidate);
        differences.push_back(std::move(difference));
    }
    std::sort(differences.begin(), differences.end(), standsBefore);
    return differences;
}

std::vector<RangeDifference> rangeDifferences(
    const std::vector<ContributorDifference>& contributors) {
    std::map<std::pair<std::string, StepPart>, RangeDifference> byRange;
    for (const ContributorDifference& each : contributors) {
        RangeDifference& range = byRange[{each.path, each.part}];
        range.path = each.path;
        range.part = each.part;
        range.baselineNs += each.baseline.exposedNs;
        range.candidateNs += each.candidate.exposedNs;
    }
    std::vector<RangeDifference> ranges;
    for (auto& [key, range] : byRange) ranges.push_back(std::move(range));
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const auto& a, const auto& b) { return a.lostNs() > b.lostNs(); });
    return ranges;
}

/// A thread that waits is seen to sleep in one run and to wait for a lock in another: idle causes
/// that differ in nothing but the state of the thread are one, unless both sides have the same of
/// them.
using CauseKey = std::tuple<StepPart, std::string, std::string>;

CauseKey causeKey(const Contributor& idle) {
    return {idle.part, std::string(withoutState(idle.name)), idle.path};
}

/// The causes whose states differ between both sides.
std::set<CauseKey> causesOfOtherStates(const WorkerSummary& baseline,
                                       const WorkerSummary& candidate) {
    std::map<CauseKey, std::array<std::set<std::string>, 2>> names;
    for (const Contributor& each : baseline.contributors)
        if (each.kind == ContributorKind::Idle) names[causeKey(each)][0].insert(each.name);
    for (const Contributor& each : candidate.contributors)
        if (each.kind == ContributorKind::Idle) names[causeKey(each)][1].insert(each.name);
    std::set<CauseKey> other;
    for (const auto& [key, ofSides] : names)
        if (ofSides[0] != ofSides[1] && !ofSides[0].empty() && !ofSides[1].empty())
            other.insert(key);
    return other;
}

/// The worker with each of these causes as one, in the place of its first.
WorkerSummary withOneOfEach(const std::set<CauseKey>& causes, WorkerSummary worker) {
    std::map<CauseKey, size_t> places;
    std::vector<Contributor> merged;
    for (Contributor& each : worker.contributors) {
        CauseKey key = causeKey(each);
        if (each.kind != ContributorKind::Idle || !causes.contains(key)) {
            merged.push_back(std::move(each));
            continue;
        }
        const auto [place, isFirst] = places.try_emplace(std::move(key), merged.size());
        if (isFirst) {
            each.name.resize(withoutState(each.name).size());
            merged.push_back(std::move(each));
            continue;
        }
        Contributor& sum = merged[place->second];
        sum.count += each.count;
        sum.exposedNs += each.exposedNs;
        sum.totalNs += each.totalNs;
        sum.order = std::min(sum.order, each.order);
    }
    worker.contributors = std::move(merged);
    return worker;
}

/// Fills in the times of the mean step.
void addMeanStep(const WorkerSummary& baseline, const WorkerSummary& candidate,
                 const std::vector<ContributorMatch>& matches, int64_t quantumNs,
                 WorkerComparison& pair) {
    const MeanStep before = meanStep(baseline, quantumNs);
    const MeanStep after = meanStep(candidate, quantumNs);
    pair.baseline.meanNs = before.ns;
    pair.candidate.meanNs = after.ns;
    for (size_t index = 0; index < stepPartCount; ++index) {
        const auto part = static_cast<StepPart>(index);
        pair.parts.push_back({part, before.parts[part], after.parts[part]});
    }
    pair.contributors = contributorDifferences(baseline, candidate, before, after, matches);
    pair.ranges = rangeDifferences(pair.contributors);
}

}  // namespace

ComparedWorkers compareWorkers(const WorkerSummary& ofBaseline, const WorkerSummary& ofCandidate) {
    const std::set<CauseKey> causes = causesOfOtherStates(ofBaseline, ofCandidate);
    const WorkerSummary baseline = withOneOfEach(causes, ofBaseline);
    const WorkerSummary candidate = withOneOfEach(causes, ofCandidate);
    WorkerComparison pair;
    pair.baselineLabel = baseline.label();
    pair.candidateLabel = candidate.label();
    const std::vector<int64_t> before = wallTimes(baseline);
    const std::vector<int64_t> after = wallTimes(candidate);
    pair.baseline = distributionOf(before);
    pair.candidate = distributionOf(after);
    pair.claim = judgeSteps(before, after);
    // Steps that take no time are no measure of anything (`timelessSentence`).
    const auto isTimeless = [](const StepDistribution& steps) {
        return steps.count > 0 && steps.medianNs <= 0;
    };
    if (isTimeless(pair.baseline) || isTimeless(pair.candidate))
        pair.claim.outcome = Outcome::Nothing;
    pair.scale =
        DurationScale::ofStep(before.empty() ? pair.candidate.meanNs : pair.baseline.meanNs);
    const std::vector<ContributorMatch> matches = matchContributors(
        baseline.contributors, candidate.contributors, countOf(baseline), countOf(candidate));
    ComparedWorkers compared{pair, pair};
    addMeanStep(baseline, candidate, matches, pair.scale.quantumNs(), compared.shown);
    addMeanStep(baseline, candidate, matches, 1, compared.exact);
    return compared;
}

}  // namespace lanescope::compare
