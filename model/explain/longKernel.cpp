// SPDX-License-Identifier: Apache-2.0
#include "model/explain/longKernel.h"

#include <fmt/format.h>

#include "model/compare/shownNumbers.h"
#include "model/values/Statistics.h"

namespace lanescope::explain {

using namespace compare;

namespace {

/// Of the mean step, by each launch.
constexpr double leastOfStep = 0.2;
/// A step of few kernels is made of long ones.
constexpr double fewestOthers = 20;
/// Of the mean duration of the others.
constexpr double leastFactor = 10;

struct Others {
    int64_t count = 0, totalNs = 0;
    double meanNs() const {
        return count > 0 ? static_cast<double>(totalNs) / static_cast<double>(count) : 0;
    }
};

bool isKernel(const Contributor& each) {
    return each.part == StepPart::Compute &&
           (each.kind == ContributorKind::Kernel || each.kind == ContributorKind::Others);
}

Others othersThan(const WorkerSummary& worker, const Contributor& kernel) {
    Others others;
    for (const Contributor& each : worker.contributors) {
        if (&each == &kernel || !isKernel(each)) continue;
        others.count = saturatingSum(others.count, each.count);
        others.totalNs = saturatingSum(others.totalNs, each.totalNs);
    }
    return others;
}

}  // namespace

const Contributor* longKernel(const WorkerSummary& worker, int64_t meanNs) {
    const auto steps = static_cast<double>(worker.steps.size());
    const Contributor* longest = nullptr;
    double longestNs = leastOfStep * static_cast<double>(meanNs);
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel ||
            each.count <= 0)
            continue;
        // One that comes now and then makes odd steps.
        const auto count = static_cast<double>(each.count);
        if (2 * count < steps) continue;
        const double eachNs = static_cast<double>(each.exposedNs) / count;
        if (eachNs < longestNs) continue;
        longest = &each;
        longestNs = eachNs;
    }
    if (longest == nullptr) return nullptr;
    const Others others = othersThan(worker, *longest);
    const bool isAlone = static_cast<double>(others.count) >= fewestOthers * steps &&
                         longestNs >= leastFactor * others.meanNs();
    return isAlone ? longest : nullptr;
}

std::string longKernelText(const WorkerSummary& worker, const Contributor& kernel,
                           const std::string& per) {
    const Others others = othersThan(worker, kernel);
    const double eachNs = static_cast<double>(kernel.totalNs) / static_cast<double>(kernel.count);
    const auto steps = static_cast<double>(worker.steps.size());
    return fmt::format(
        "; it takes {} each time, {} times as long as the mean of the {} others of a {}.",
        timeText(eachNs), countText(eachNs / others.meanNs()),
        countText(static_cast<double>(others.count) / steps), per);
}

}  // namespace lanescope::explain
