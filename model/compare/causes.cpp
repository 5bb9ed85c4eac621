// SPDX-License-Identifier: Apache-2.0
#include "model/compare/causes.h"

#include <algorithm>
#include <cmath>

namespace lanescope::compare {

namespace {

constexpr size_t mostCauses = 3;
constexpr int64_t smallestCauseShare = 6;  ///< One part in so many.
/// What PCIe 5 x16 can carry in one direction, the fastest link between GPUs but NVLink.
constexpr double fastestPcieGBps = 64;

/// The contributor of a part that changed most in the direction of `sign`; null if none did at
/// least a third of it.
const ContributorDifference* mainContributor(const WorkerComparison& pair, StepPart part,
                                             int64_t lostNs) {
    const int64_t sign = lostNs < 0 ? -1 : 1;
    const ContributorDifference* main = nullptr;
    for (const ContributorDifference& each : pair.contributors)
        if (each.part == part && each.kind != ContributorKind::Others &&
            (!main || each.lostNs() * sign > main->lostNs() * sign))
            main = &each;
    return main && main->lostNs() * sign * 3 >= lostNs * sign ? main : nullptr;
}

/// GPUs that are joined by NVLink, which carried data between them and does no longer: by the
/// counters of both runs, else by the pace of something slower.
bool hasLostNvlink(StepPart part, const ContributorDifference* main, const RunSummary& baseline,
                   const RunSummary& candidate) {
    const bool isBetweenGpus =
        part == StepPart::ExposedCommunication || part == StepPart::ExposedPtoP;
    if (!isBetweenGpus || !candidate.facts.isNvlinkPresent) return false;
    if (baseline.nvlink.evidence == LinkEvidence::Counters &&
        candidate.nvlink.evidence == LinkEvidence::Counters)
        return baseline.nvlink.use == NvlinkVerdict::Use::Used &&
               candidate.nvlink.use == NvlinkVerdict::Use::NotSeen;
    return main && main->baseline.gigabytesPerSecond > fastestPcieGBps &&
           main->candidate.gigabytesPerSecond > 0 &&
           main->candidate.gigabytesPerSecond < fastestPcieGBps;
}

Cause causeOf(const WorkerComparison& pair, const PartDifference& part, const RunSummary& baseline,
              const RunSummary& candidate) {
    Cause cause;
    cause.part = part.part;
    cause.lostNs = part.lostNs();
    const ContributorDifference* main = mainContributor(pair, part.part, part.lostNs());
    if (main) cause.main = *main;
    cause.hasLostNvlink = hasLostNvlink(part.part, main, baseline, candidate);
    return cause;
}

}  // namespace

std::vector<Cause> causesOf(const WorkerComparison& pair, const RunSummary& baseline,
                            const RunSummary& candidate) {
    const bool isSlower = pair.claim.differenceNs > 0;
    std::vector<const PartDifference*> changed;
    int64_t allNs = 0;
    for (const PartDifference& part : pair.parts) {
        if (part.lostNs() == 0 || (part.lostNs() > 0) != isSlower) continue;
        changed.push_back(&part);
        allNs += std::abs(part.lostNs());
    }
    std::stable_sort(changed.begin(), changed.end(), [](const auto* a, const auto* b) {
        return std::abs(a->lostNs()) > std::abs(b->lostNs());
    });
    std::vector<Cause> causes;
    for (const PartDifference* part : changed)
        if (causes.size() < mostCauses && std::abs(part->lostNs()) * smallestCauseShare >= allNs)
            causes.push_back(causeOf(pair, *part, baseline, candidate));
    return causes;
}

}  // namespace lanescope::compare
