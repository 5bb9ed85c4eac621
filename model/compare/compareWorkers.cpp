#include "model/compare/compareWorkers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/compare/judgeSteps.h"
#include "model/compare/matchContributors.h"

namespace lanescope {

namespace {

std::vector<int64_t> wallTimes(const WorkerSummary& worker) {
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : worker.steps) wallNs.push_back(step.wallNs);
    return wallNs;
}

int64_t countOf(const WorkerSummary& worker) {
    return static_cast<int64_t>(worker.steps.size());
}

/// The mean step, split so that the parts sum to it.
StepParts meanParts(const WorkerSummary& worker, int64_t meanNs) {
    const StepParts total = worker.totalParts();
    const std::vector<int64_t> shares = shareOut(total.ns, countOf(worker), meanNs);
    StepParts mean;
    std::copy(shares.begin(), shares.end(), mean.ns.begin());
    return mean;
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

/// Each contributor per step; those of a part sum to that part of `mean`.
std::vector<ContributorShare> sharesOf(const WorkerSummary& worker, const StepParts& mean) {
    std::vector<ContributorShare> shares;
    for (const Contributor& each : worker.contributors)
        shares.push_back(shareOf(each, countOf(worker)));
    for (size_t part = 0; part < stepPartCount; ++part) {
        std::vector<int64_t> exposed;
        std::vector<size_t> places;
        for (size_t index = 0; index < worker.contributors.size(); ++index) {
            if (worker.contributors[index].part != static_cast<StepPart>(part)) continue;
            exposed.push_back(worker.contributors[index].exposedNs);
            places.push_back(index);
        }
        const std::vector<int64_t> perStep = shareOut(exposed, countOf(worker), mean.ns[part]);
        for (size_t index = 0; index < places.size(); ++index)
            shares[places[index]].exposedNs = perStep[index];
    }
    return shares;
}

bool standsBefore(const ContributorDifference& a, const ContributorDifference& b) {
    const auto key = [](const ContributorDifference& each) {
        return std::tuple(each.part, -each.lostNs(), -each.candidate.exposedNs);
    };
    return key(a) != key(b) ? key(a) < key(b)
                            : std::tie(a.name(), a.path) < std::tie(b.name(), b.path);
}

std::vector<ContributorDifference> contributorDifferences(const WorkerSummary& baseline,
                                                          const WorkerSummary& candidate,
                                                          const StepParts& baselineMean,
                                                          const StepParts& candidateMean) {
    const std::vector<ContributorShare> before = sharesOf(baseline, baselineMean);
    const std::vector<ContributorShare> after = sharesOf(candidate, candidateMean);
    std::vector<ContributorDifference> differences;
    for (const ContributorMatch& match :
         matchContributors(baseline.contributors, candidate.contributors, countOf(baseline),
                           countOf(candidate))) {
        ContributorDifference difference;
        difference.match = match.kind;
        const Contributor& known = match.candidate != noIndex
                                       ? candidate.contributors[match.candidate]
                                       : baseline.contributors[match.baseline];
        difference.part = known.part;
        difference.kind = known.kind;
        difference.path = known.path;
        if (match.baseline != noIndex) difference.baseline = before[match.baseline];
        if (match.candidate != noIndex) difference.candidate = after[match.candidate];
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

}  // namespace

WorkerComparison compareWorkers(const WorkerSummary& baseline, const WorkerSummary& candidate) {
    WorkerComparison pair;
    pair.baselineLabel = baseline.label();
    pair.candidateLabel = candidate.label();
    const std::vector<int64_t> before = wallTimes(baseline);
    const std::vector<int64_t> after = wallTimes(candidate);
    pair.baseline = distributionOf(before);
    pair.candidate = distributionOf(after);
    pair.claim = judgeSteps(before, after);
    const StepParts baselineMean = meanParts(baseline, pair.baseline.meanNs);
    const StepParts candidateMean = meanParts(candidate, pair.candidate.meanNs);
    for (size_t index = 0; index < stepPartCount; ++index) {
        const auto part = static_cast<StepPart>(index);
        pair.parts.push_back({part, baselineMean[part], candidateMean[part]});
    }
    pair.contributors = contributorDifferences(baseline, candidate, baselineMean, candidateMean);
    pair.ranges = rangeDifferences(pair.contributors);
    return pair;
}

}  // namespace lanescope
