// SPDX-License-Identifier: Apache-2.0
#include "model/explain/kernelKinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace lanescope::explain {

using namespace compare;

namespace {

constexpr double leastOfSteps = 0.05;

template <size_t Count>
bool isNamed(const Contributor& each, const std::array<std::string_view, Count>& parts) {
    return each.part == StepPart::Compute && each.kind == ContributorKind::Kernel &&
           std::ranges::any_of(parts, [&](std::string_view part) {
               return each.name.find(part) != std::string::npos;
           });
}

bool isProduct(const Contributor& each) {
    static constexpr std::array<std::string_view, 5> parts{"gemm", "nvjet", "cutlass", "xmma",
                                                           "convolve"};
    return isNamed(each, parts);
}

}  // namespace

bool movesWithinGpu(const Contributor& each) {
    static constexpr std::array<std::string_view, 6> parts{
        "copy_kernel_cuda", "CatArrayBatchedCopy", "nchwTo",
        "nhwcTo",           "nhwcAddPadding",      "transpose_readWrite"};
    return each.part == StepPart::ExposedDtoD || isNamed(each, parts);
}

bool isDoubleProduct(const Contributor& each) {
    static constexpr std::array<std::string_view, 4> parts{"f64f64", "d884gemm", "d1684gemm",
                                                           "d16816gemm"};
    if (isNamed(each, parts)) return true;
    static constexpr std::array<std::string_view, 1> blas{"dgemm"};
    const size_t at = each.name.find(blas.front());
    // Not the end of another word, as "groupedgemm".
    return isNamed(each, blas) &&
           (at == 0 || std::isalpha(static_cast<unsigned char>(each.name[at - 1])) == 0);
}

bool hasOtherProducts(const WorkerSummary& worker) {
    double sumNs = 0, wholeNs = 0;
    for (const Contributor& each : worker.contributors)
        if (isProduct(each) && !isDoubleProduct(each)) sumNs += static_cast<double>(each.exposedNs);
    for (const StepSummary& step : worker.steps) wholeNs += static_cast<double>(step.wallNs);
    return sumNs >= leastOfSteps * wholeNs;
}

}  // namespace lanescope::explain
