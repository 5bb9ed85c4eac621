// SPDX-License-Identifier: Apache-2.0
#include "model/compare/checkRunSummary.h"

#include <algorithm>
#include <optional>

#include "model/trace/throttleReasons.h"

namespace lanescope::compare {

namespace {

/// Some thirty years: what is greater is no time of a run, and sums of it could overflow.
constexpr int64_t longestNs = 1'000'000'000'000'000'000;

bool isTime(int64_t ns) {
    return ns >= 0 && ns <= longestNs;
}

bool areStepsGood(const WorkerSummary& worker) {
    int64_t endNs = -longestNs;
    int64_t allNs = 0;
    for (const StepSummary& step : worker.steps) {
        if (step.startNs < endNs || step.startNs > longestNs || !isTime(step.wallNs) ||
            !isTime(step.onCpuNs.value_or(0)))
            return false;
        for (const int64_t ns : step.parts.ns)
            if (ns < 0 || ns > step.wallNs) return false;
        if (step.parts.sum() != step.wallNs) return false;
        endNs = step.startNs + step.wallNs;
        allNs += step.wallNs;
        if (!isTime(allNs)) return false;
    }
    const auto count = static_cast<int64_t>(worker.steps.size());
    return isTime(worker.workNs) && worker.warmUpSteps >= 0 && worker.foundSteps >= count &&
           worker.warmUpSteps <= worker.foundSteps - count;
}

bool areContributorsGood(const WorkerSummary& worker) {
    StepParts sums;
    std::array<size_t, stepPartCount> counts{};
    for (const Contributor& each : worker.contributors) {
        const bool isGood = each.count >= 0 && isTime(each.exposedNs) && each.totalNs >= 0 &&
                            each.bytes >= 0 && each.busBytes >= 0 && each.order >= 0 &&
                            each.waitedNs >= 0 && each.waitedNs <= each.exposedNs &&
                            each.workedNs >= 0 && each.workedNs <= each.exposedNs - each.waitedNs;
        if (!isGood || ++counts[static_cast<size_t>(each.part)] > mostContributors + 1)
            return false;
        sums[each.part] += each.exposedNs;
        if (!isTime(sums[each.part])) return false;
    }
    return sums == worker.totalParts();
}

bool areOutliersGood(const WorkerSummary& worker) {
    return worker.outliers.size() <= mostOutliers &&
           std::all_of(worker.outliers.begin(), worker.outliers.end(), [](const auto& step) {
               return isTime(step.wallNs) && isTime(step.excessNs) && isTime(step.partExcessNs) &&
                      step.number >= 0;
           });
}

/// Faster than any GPU.
constexpr int64_t mostHz = 1'000'000'000'000;

bool isHz(int64_t hz) {
    return hz >= 0 && hz <= mostHz;
}

bool areConditionsGood(const WorkerSummary& worker) {
    int64_t knownNs = 0;
    std::optional<uint64_t> before;
    for (const ClockState& each : worker.clocks) {
        const bool isInOrder = !before || each.reasons > *before;
        if (!isInOrder || (each.reasons & ~slowingReasons()) != 0 || !isTime(each.ns) ||
            !isHz(each.smClockHz) || !isTime(each.longestNs) || each.longestNs > each.ns ||
            each.longestStartNs < -longestNs || each.longestStartNs > longestNs)
            return false;
        before = each.reasons;
        knownNs += each.ns;
        if (knownNs > worker.totalWallNs()) return false;
    }
    const LoaderTimes& loaders = worker.loaders;
    // Each is checked before they are summed up.
    for (const int64_t ns : {loaders.knownNs, loaders.ranNs, loaders.noCoreNs, loaders.inputNs})
        if (!isTime(ns)) return false;
    if (loaders.threads < 0 || (loaders.threads == 0) != (loaders.knownNs == 0) ||
        loaders.ranNs + loaders.noCoreNs + loaders.inputNs > loaders.knownNs)
        return false;
    if (const auto& waits = worker.coreWaits;
        waits && (waits->threads < 0 || waits->threads > int64_t{noIndex} || !isTime(waits->ns) ||
                  (waits->threads == 0) != (waits->ns == 0)))
        return false;
    const LaunchTimes& launches = worker.launches;
    if (launches.count < 0 || launches.count > int64_t{noIndex} || !isTime(launches.medianNs) ||
        (launches.count == 0 && launches.medianNs > 0) || launches.placeCount < 0 ||
        launches.placeCount > launches.count)
        return false;
    const StepPauses& pauses = worker.pauses;
    return isHz(worker.highestSmClockHz) && isTime(worker.heldBackNs.value_or(0)) &&
           isTime(worker.rest.ns) && worker.rest.ns <= pauses.idleNs && pauses.count >= 0 &&
           isTime(pauses.ns) && pauses.idleNs >= 0 && pauses.idleNs <= pauses.ns &&
           isTime(pauses.longestNs) && pauses.longestStartNs >= -longestNs &&
           pauses.longestStartNs <= longestNs;
}

}  // namespace

bool isConsistent(const RunSummary& summary) {
    const NvlinkTraffic& nvlink = summary.nvlink;
    if (nvlink.bytesPerStep.value_or(0) < 0 || nvlink.bestBytesPerSecond < 0 ||
        summary.facts.cpuLimitPercent < 0 || summary.rangesPerStep < 1)
        return false;
    return std::all_of(summary.workers.begin(), summary.workers.end(),
                       [](const WorkerSummary& worker) {
                           return areStepsGood(worker) && areContributorsGood(worker) &&
                                  areOutliersGood(worker) && areConditionsGood(worker);
                       });
}

}  // namespace lanescope::compare
