// SPDX-License-Identifier: Apache-2.0
// Rule about operators far from the measured rates of their GPU.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/analysis/shownNumbers.h"
#include "model/explain/FindingText.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/rules.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Maximum share of the measured rate for a finding. Good kernels of common shapes reach more.
constexpr double maxRoofShare = 0.6;

/// Returns true for products, convolutions and attention with measured roofs that are far below them.
bool isFar(const ShapedWork& work) {
    const auto share = work.ofRoof();
    return work.isMeasured && work.kind != OperatorKind::Elementwise && share && *share < maxRoofShare;
}

/// Returns all of the worker of a finding, most time beyond the roof first. Other rules report their precision.
template <class Of>
std::vector<const ShapedWork*> farFromRoof(const Of& of) {
    std::vector<const ShapedWork*> far;
    for (const ShapedWork& each : of.worker().shaped) {
        const bool isReported = (each.precision == "fp32" && of.has(singlePrecisionRule)) ||
                                (each.precision == "fp64" && of.has(doublePrecisionRule));
        if (isFar(each) && !isReported) far.push_back(&each);
    }
    return far;
}

double perStepNs(const WorkerSummary& worker, int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(std::max<int64_t>(1, worker.use.countedSteps));
}

void findFarFromRoof(RunFindings& run) {
    const std::vector<const ShapedWork*> far = farFromRoof(run);
    if (far.empty()) return;
    int64_t ns = 0;
    for (const ShapedWork* each : far) ns = saturatingSum(ns, each->aboveRoofNs());
    const std::string& kernel = far.front()->kernel;
    run.add(static_cast<int64_t>(perStepNs(run.worker(), ns)), minShare, run.greatest([&](const Contributor& each) {
        return each.kind == ContributorKind::Kernel && each.name.work == kernel;
    }));
}

std::string sayFarFromRoof(const FindingText& text) {
    const std::vector<const ShapedWork*> far = farFromRoof(text);
    const auto first = std::ranges::find_if(
        far, [&](const ShapedWork* each) { return each->kernel == text.finding().contributor.work; });
    const ShapedWork& work = first == far.end() ? *far.front() : **first;
    const std::string place = work.place.empty() ? "" : " at " + printable(work.place);
    std::string sentence =
        fmt::format("{} {} {}{} runs at {} of the measured {} roof: {}{}.", work.operation, work.shape, work.precision,
                    place, shareText(*work.ofRoof()), work.isMemoryBound ? "memory" : "compute",
                    timeText(perStepNs(text.worker(), work.aboveRoofNs())), text.per());
    if (far.size() > 1)
        sentence += fmt::format(" With {} other shape{} below {} it takes {}.", far.size() - 1,
                                far.size() == 2 ? "" : "s", shareText(maxRoofShare), text.time());
    return sentence;
}

}  // namespace

const Rule farFromRoofRule{
    .id = "far_from_roof",
    .title = "Operators far from the measured roof",
    .finds =
        "Products, convolutions or attention of known shape run below 60 % of rates that doctor --measure measured. "
        "The time beyond the roof is at least 3 % of the step.",
    .advice =
        "stats -r roofline lists the shapes. Pad dimensions to multiples of 64 or 128, join small products (batch, "
        "fused projections), or try torch.compile(mode=\"max-autotune\") and another attention backend.",
    .find = findFarFromRoof,
    .say = sayFarFromRoof,
    .evidence =
        [](const FindingText& text) {
            const EvidenceQuery query(text);
            std::vector<std::string> kernels;
            for (const ShapedWork* each : farFromRoof(text))
                if (std::ranges::find(kernels, each->kernel) == kernels.end()) kernels.push_back(each->kernel);
            return Evidence{query.exposed({query.kernelsNamed(kernels)}, {}), 0};
        },
};

}  // namespace lanescope::explain
