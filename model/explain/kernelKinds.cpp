// SPDX-License-Identifier: Apache-2.0
#include "model/explain/kernelKinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/analysis/shownNumbers.h"
#include "model/numbers/Statistics.h"

namespace lanescope::explain {

using namespace analysis;

std::optional<KernelClass> classOf(const Contributor& each) {
    if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel) return std::nullopt;
    return kernelClass(each.name.work);
}

namespace {

/// Minimum share of the mean step that one launch of a long kernel takes.
constexpr double minShareOfStep = 0.2;
/// A step with few kernels consists of long ones.
constexpr double minOtherKernels = 20;
/// Minimum duration of a long kernel, as a multiple of the mean of the other kernels.
constexpr double minDurationRatio = 10;

struct Others {
    int64_t count = 0, totalNs = 0;
    double meanNs() const { return count > 0 ? static_cast<double>(totalNs) / static_cast<double>(count) : 0; }
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
    double longestNs = minShareOfStep * static_cast<double>(meanNs);
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel || each.count <= 0) continue;
        // An occasional one makes outlier steps.
        const auto count = static_cast<double>(each.count);
        if (2 * count < steps) continue;
        const double eachNs = static_cast<double>(each.exposedNs) / count;
        if (eachNs < longestNs) continue;
        longest = &each;
        longestNs = eachNs;
    }
    if (longest == nullptr) return nullptr;
    const Others others = othersThan(worker, *longest);
    const bool isAlone =
        static_cast<double>(others.count) >= minOtherKernels * steps && longestNs >= minDurationRatio * others.meanNs();
    return isAlone ? longest : nullptr;
}

std::string longKernelText(const WorkerSummary& worker, const Contributor& kernel, const std::string& per) {
    const Others others = othersThan(worker, kernel);
    const double eachNs = static_cast<double>(kernel.totalNs) / static_cast<double>(kernel.count);
    const auto steps = static_cast<double>(worker.steps.size());
    return fmt::format("; it takes {} each time, {} times as long as the mean of the {} others of a {}.",
                       timeText(eachNs), countText(eachNs / others.meanNs()),
                       countText(static_cast<double>(others.count) / steps), per);
}

int64_t ofTypicalStepNs(const WorkerSummary& worker, StepPart part) {
    std::vector<int64_t> times;
    for (const StepSummary& step : worker.steps) times.push_back(step.parts[part]);
    return upperMedianOf(std::move(times));
}

bool isFill(const Contributor& each) {
    const std::optional<KernelClass> is = classOf(each);
    return is && is->family == KernelFamily::Fill;
}

bool isOfBatchSize(const StepPattern& pattern, const WorkerSummary& worker) {
    if (pattern.part != StepPart::Compute) return false;
    if (pattern.kind != PatternKind::Period && pattern.kind != PatternKind::TwoModes) return false;
    return std::ranges::none_of(pattern.affected, [&](uint32_t place) {
        return std::ranges::any_of(worker.outliers,
                                   [&](const OutlierStep& odd) { return odd.number == worker.steps[place].number; });
    });
}

}  // namespace lanescope::explain
