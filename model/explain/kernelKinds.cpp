// SPDX-License-Identifier: Apache-2.0
#include "model/explain/kernelKinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "model/analysis/shownNumbers.h"
#include "model/numbers/Statistics.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

constexpr double minShareOfSteps = 0.05;

template <size_t Count>
bool isNamed(const Contributor& each, const std::array<std::string_view, Count>& parts) {
    return each.part == StepPart::Compute && each.kind == ContributorKind::Kernel &&
           std::ranges::any_of(parts,
                               [&](std::string_view part) { return each.name.work.find(part) != std::string::npos; });
}

bool isProduct(const Contributor& each) {
    static constexpr std::array<std::string_view, 5> parts{"gemm", "nvjet", "cutlass", "xmma", "convolve"};
    return isNamed(each, parts);
}

}  // namespace

bool movesWithinGpu(const Contributor& each) {
    static constexpr std::array<std::string_view, 6> parts{
        "copy_kernel_cuda", "CatArrayBatchedCopy", "nchwTo", "nhwcTo", "nhwcAddPadding", "transpose_readWrite"};
    return each.part == StepPart::ExposedDtoD || isNamed(each, parts);
}

bool isDoubleProduct(const Contributor& each) {
    static constexpr std::array<std::string_view, 4> parts{"f64f64", "d884gemm", "d1684gemm", "d16816gemm"};
    if (isNamed(each, parts)) return true;
    static constexpr std::array<std::string_view, 1> blas{"dgemm"};
    const size_t at = each.name.work.find(blas.front());
    // Not the end of another word, such as "groupedgemm".
    return isNamed(each, blas) && (at == 0 || std::isalpha(static_cast<unsigned char>(each.name.work[at - 1])) == 0);
}

bool isSinglePrecisionProduct(const Contributor& each) {
    // Names of tensor core kernels for fp32 values contain the type of their products.
    static constexpr std::array<std::string_view, 6> tensorTypes{"tf32", "bf16", "f16", "s1688", "s16816", "tensorop"};
    static constexpr std::array<std::string_view, 5> parts{"sgemm", "simt_s", "f32f32_f32f32_f32", "scudnn", "sgemv"};
    return isNamed(each, parts) && !isNamed(each, tensorTypes);
}

bool hasOtherProducts(const WorkerSummary& worker) {
    double sumNs = 0, wholeNs = 0;
    for (const Contributor& each : worker.contributors)
        if (isProduct(each) && !isDoubleProduct(each)) sumNs += static_cast<double>(each.exposedNs);
    for (const StepSummary& step : worker.steps) wholeNs += static_cast<double>(step.wallNs);
    return sumNs >= minShareOfSteps * wholeNs;
}

namespace {

/// Share of the mean step, per launch.
constexpr double minShareOfStep = 0.2;
/// A step with few kernels consists of long ones.
constexpr double minOtherKernels = 20;
/// Multiple of the mean duration of the others.
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
    static constexpr std::array<std::string_view, 1> parts{"FillFunctor"};
    return isNamed(each, parts);
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
