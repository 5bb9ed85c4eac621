// SPDX-License-Identifier: Apache-2.0
#include "model/compare/answer.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "model/analysis/IdleCauses.h"
#include "model/compare/matchContributors.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

constexpr size_t maxCauses = 3;
constexpr size_t maxKindChanges = 2;       ///< Changes of kind, in addition to those in a part's cause.
constexpr int64_t minChangeDivisor = 100;  ///< Of the step: one part in so many.
constexpr double countTolerance = 0.1;     ///< Relative difference from which a count is different.
constexpr int64_t minCauseDivisor = 6;     ///< One part in so many.
constexpr size_t maxOffsets = 2;
/// Bandwidth of PCIe 5 x16 in one direction, the fastest link between GPUs except NVLink.
constexpr double maxPcieGBps = 64;

/// Returns a part's contributor that changed most in its direction; null if none changed by a third of the part.
const ContributorDifference* mainContributor(const WorkerComparison& pair, StepPart part, int64_t lostNs) {
    const int64_t sign = lostNs < 0 ? -1 : 1;
    const ContributorDifference* main = nullptr;
    for (const ContributorDifference& each : pair.contributors)
        if (each.part == part && each.kind != ContributorKind::Others &&
            (!main || each.lostNs() * sign > main->lostNs() * sign))
            main = &each;
    return main && main->lostNs() * sign * 3 >= lostNs * sign ? main : nullptr;
}

/// Returns true if NVLink connects the GPUs and no longer carries their data: by counters, else by the pace.
bool hasLostNvlink(StepPart part, const ContributorDifference* main, const RunSummary& baseline,
                   const RunSummary& candidate) {
    const bool isBetweenGpus = part == StepPart::ExposedCommunication || part == StepPart::ExposedPtoP;
    if (!isBetweenGpus || !candidate.facts.isNvlinkPresent) return false;
    if (baseline.nvlink.evidence == LinkEvidence::Counters && candidate.nvlink.evidence == LinkEvidence::Counters)
        return baseline.nvlink.use == NvlinkVerdict::Use::Used && candidate.nvlink.use == NvlinkVerdict::Use::NotSeen;
    return main && main->baseline.gigabytesPerSecond > maxPcieGBps && main->candidate.gigabytesPerSecond > 0 &&
           main->candidate.gigabytesPerSecond < maxPcieGBps;
}

/// Returns true if the other side has nothing in the NVTX ranges of this contributor.
bool isInNewRange(const WorkerComparison& pair, const ContributorDifference& one) {
    const bool isCandidate = one.match == MatchKind::OnlyCandidate;
    return !one.path.empty() && std::ranges::none_of(pair.contributors, [&](const auto& each) {
        const MatchKind own = isCandidate ? MatchKind::OnlyCandidate : MatchKind::OnlyBaseline;
        return each.match != own && each.path == one.path;
    });
}

/// Returns the baseline's mean step without time around all work, not the program's if no steps were found.
int64_t busyStepNs(const WorkerComparison& pair) {
    int64_t ns = pair.baseline.meanNs;
    for (const ContributorDifference& each : pair.contributors)
        if (each.name().idle.kind == CauseKind::NoWorkAround) ns -= each.baseline.exposedNs;
    return ns;
}

/// Returns true if the program does something else here, not the same in another time: a hundredth of the step or more.
bool isChangeOfKind(const WorkerComparison& pair, const ContributorDifference& one) {
    // The number of times that a rank is last does not depend on its own work.
    if (one.kind == ContributorKind::Others || one.part == StepPart::WaitingForRanks) return false;
    const int64_t overlappedNs = std::abs(one.candidate.totalNs - one.baseline.totalNs);
    if (std::max(std::abs(one.lostNs()), overlappedNs) * minChangeDivisor < busyStepNs(pair)) return false;
    const bool isIdle = one.kind == ContributorKind::Idle;
    if (one.match == MatchKind::OnlyBaseline || one.match == MatchKind::OnlyCandidate)
        return !isIdle || isInNewRange(pair, one);
    if (isIdle) return false;
    if (one.match == MatchKind::SamePosition)
        return one.kind != ContributorKind::Kernel ||
               kernelFamily(one.baseline.name.work) != kernelFamily(one.candidate.name.work);
    return std::abs(one.candidate.count - one.baseline.count) >
           countTolerance * std::max(one.candidate.count, one.baseline.count);
}

const QuantityClaim* judgedPart(const WorkerComparison& pair, StepPart part) {
    for (const QuantityClaim& each : pair.quantities)
        if (each.kind == QuantityKind::Part && each.part == part) return &each;
    return nullptr;
}

/// Returns changes of kind without a cause, most expensive first.
std::vector<Cause> furtherChanges(const WorkerComparison& pair, const std::vector<Cause>& causes) {
    std::vector<const ContributorDifference*> changes;
    for (const ContributorDifference& each : pair.contributors) {
        const bool isShown = std::ranges::any_of(causes, [&](const Cause& cause) {
            return cause.main && cause.part == each.part && cause.main->match == each.match &&
                   cause.main->path == each.path && cause.main->name() == each.name();
        });
        if (!isShown && isChangeOfKind(pair, each)) changes.push_back(&each);
    }
    std::ranges::stable_sort(changes, std::ranges::greater(),
                             [](const auto* each) { return std::abs(each->lostNs()); });
    if (changes.size() > maxKindChanges) changes.resize(maxKindChanges);
    std::vector<Cause> further;
    for (const ContributorDifference* each : changes) {
        Cause cause;
        cause.part = each->part;
        cause.lostNs = each->lostNs();
        cause.main = *each;
        cause.isChangeOfKind = true;
        cause.isOfWholePart = false;
        further.push_back(std::move(cause));
    }
    return further;
}

Cause causeOf(const WorkerComparison& pair, const PartDifference& part, const RunSummary& baseline,
              const RunSummary& candidate) {
    Cause cause;
    cause.part = part.part;
    cause.lostNs = part.lostNs();
    const ContributorDifference* main = mainContributor(pair, part.part, part.lostNs());
    if (main) cause.main = *main;
    cause.hasLostNvlink = hasLostNvlink(part.part, main, baseline, candidate);
    cause.isChangeOfKind = cause.hasLostNvlink || (main && isChangeOfKind(pair, *main));
    if (const QuantityClaim* judged = judgedPart(pair, part.part)) cause.judged = *judged;
    return cause;
}

/// Returns a cause for the idle time of a path, described by its contributor that changed most.
Cause causeOf(const WorkerComparison& pair, const QuantityClaim& idle) {
    Cause cause;
    cause.isOfWholePart = false;
    cause.judged = idle;
    for (const ContributorDifference& each : pair.contributors)
        if (each.kind == ContributorKind::Idle && each.path == idle.path) cause.lostNs += each.lostNs();
    if (const ContributorDifference* main = findLargestIdleChange(pair, idle)) cause.main = *main;
    if (cause.main) {
        cause.part = cause.main->part;
        cause.isChangeOfKind = isChangeOfKind(pair, *cause.main);
    }
    return cause;
}

/// Adds certain changes that are not yet a cause, largest first.
void addCertain(const WorkerComparison& pair, const RunSummary& baseline, const RunSummary& candidate,
                std::vector<Cause>& causes) {
    std::vector<const QuantityClaim*> certain;
    for (const QuantityClaim& each : pair.quantities) {
        const bool isShown = std::ranges::any_of(causes, [&](const Cause& cause) {
            if (each.kind == QuantityKind::Part) return cause.isOfWholePart && cause.part == each.part;
            return cause.isCertain() && cause.main && cause.main->path == each.path &&
                   cause.main->kind == ContributorKind::Idle;
        });
        if (each.isCertain && !isShown) certain.push_back(&each);
    }
    std::ranges::stable_sort(certain, std::ranges::greater(),
                             [](const auto* each) { return std::abs(each->differenceNs); });
    if (certain.size() > maxCauses) certain.resize(maxCauses);
    for (const QuantityClaim* each : certain) {
        if (each->kind == QuantityKind::IdleInRange)
            causes.push_back(causeOf(pair, *each));
        else
            causes.push_back(causeOf(pair, pair.parts[static_cast<size_t>(each->part)], baseline, candidate));
    }
}

}  // namespace

InstanceQuery queryOf(const ContributorDifference& contributor) {
    InstanceQuery query;
    query.part = contributor.part;
    query.kind = contributor.kind;
    if (contributor.match != MatchKind::OnlyCandidate) {
        query.baselineName = contributor.baseline.name;
        query.baselinePath = contributor.path;
    }
    if (contributor.match != MatchKind::OnlyBaseline) {
        query.candidateName = contributor.candidate.name;
        query.candidatePath = contributor.path;
    }
    return query;
}

const ContributorDifference* findLargestIdleChange(const WorkerComparison& pair, const QuantityClaim& idle) {
    const int64_t sign = idle.differenceNs < 0 ? -1 : 1;
    const ContributorDifference* most = nullptr;
    for (const ContributorDifference& each : pair.contributors)
        if (each.kind == ContributorKind::Idle && each.path == idle.path &&
            (!most || each.lostNs() * sign > most->lostNs() * sign))
            most = &each;
    return most;
}

const ContributorDifference* mainOffset(const WorkerComparison& pair, const Cause& cause) {
    if (!cause.isOfWholePart || !cause.main) return nullptr;
    const int64_t restNs = cause.lostNs - cause.main->lostNs();
    const int64_t sign = restNs < 0 ? -1 : 1;
    const ContributorDifference* most = nullptr;
    for (const ContributorDifference& each : pair.contributors)
        if (each.part == cause.part && each.kind != ContributorKind::Others &&
            (!most || each.lostNs() * sign > most->lostNs() * sign))
            most = &each;
    if (!most) return nullptr;
    const int64_t largestNs = most->lostNs() * sign;
    return largestNs * 2 >= restNs * sign && largestNs <= restNs * sign * 2 ? most : nullptr;
}

bool isOffset(const WorkerComparison& pair, const Cause& cause) {
    const bool isOneWay = pair.claim.outcome != Outcome::Alike && pair.claim.outcome != Outcome::WithinNoise;
    return isOneWay && (pair.claim.differenceNs > 0 ? cause.lostNs < 0 : cause.lostNs > 0);
}

std::vector<Cause> causesOf(const WorkerComparison& pair, const RunSummary& baseline, const RunSummary& candidate) {
    const bool isSlower = pair.claim.differenceNs > 0;
    std::vector<const PartDifference*> changed, offsets;
    int64_t allNs = 0;
    for (const PartDifference& part : pair.parts) {
        if (part.lostNs() == 0) continue;
        const bool isWithIt = (part.lostNs() > 0) == isSlower;
        (isWithIt ? changed : offsets).push_back(&part);
        if (isWithIt) allNs += std::abs(part.lostNs());
    }
    for (std::vector<const PartDifference*>* parts : {&changed, &offsets})
        std::stable_sort(parts->begin(), parts->end(),
                         [](const auto* a, const auto* b) { return std::abs(a->lostNs()) > std::abs(b->lostNs()); });
    std::vector<Cause> causes;
    const auto addWeighty = [&](const std::vector<const PartDifference*>& parts, size_t most) {
        for (size_t index = 0; index < std::min(parts.size(), most); ++index)
            if (std::abs(parts[index]->lostNs()) * minCauseDivisor >= allNs)
                causes.push_back(causeOf(pair, *parts[index], baseline, candidate));
    };
    addWeighty(changed, maxCauses);
    addWeighty(offsets, maxOffsets);
    addCertain(pair, baseline, candidate, causes);
    for (Cause& change : furtherChanges(pair, causes)) causes.push_back(std::move(change));
    // A change without a cost is no reason.
    const auto rank = [&](const Cause& cause) {
        const bool isReason =
            cause.lostNs != 0 || pair.claim.outcome == Outcome::Alike || pair.claim.outcome == Outcome::WithinNoise;
        return std::tuple(isOffset(pair, cause), !isReason, !cause.isChangeOfKind, !cause.isCertain());
    };
    std::ranges::stable_sort(causes, {}, [&](const Cause& each) { return rank(each); });
    return causes;
}

namespace {

/// Returns the candidate's longest outlier if it exceeds all of the baseline's, and steps that lost time alike.
std::vector<uint32_t> significantOutliers(const std::vector<RunOutlier>& outliers) {
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
            other.step.part == longest->step.part && other.step.contributor == longest->step.contributor &&
            other.step.path == longest->step.path)
            telling.push_back(static_cast<uint32_t>(&other - outliers.data()));
    return telling;
}

bool isAlike(Outcome outcome) { return outcome == Outcome::Alike || outcome == Outcome::WithinNoise; }

}  // namespace

Answer answerOf(const RunComparison& comparison, const RunSummary& baseline, const RunSummary& candidate) {
    Answer answer;
    const WorkerComparison* pair = comparison.criticalPair();
    if (!pair) return answer;
    answer.outcome = pair->claim.outcome;
    if (answer.outcome == Outcome::Nothing) return answer;
    answer.causes = causesOf(*pair, baseline, candidate);
    if (isAlike(answer.outcome)) {
        // Amounts within noise have no cause. A change in what the program does remains a fact, as does a certain one.
        std::erase_if(answer.causes, [](const Cause& cause) { return !cause.isChangeOfKind && !cause.isCertain(); });
        if (std::ranges::any_of(answer.causes, [](const Cause& cause) { return cause.isCertain(); }))
            answer.outcome = Outcome::PartsChanged;
        answer.significantOutliers = significantOutliers(comparison.outliers);
    }
    return answer;
}

}  // namespace lanescope::compare
