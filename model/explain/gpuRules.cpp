// SPDX-License-Identifier: Apache-2.0
// Rules about a GPU at work: its clocks, single kernels, and operators far from its measured rates.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/analysis/shownNumbers.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/hostTime.h"
#include "model/explain/programKind.h"
#include "model/explain/rules.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Share of compute time only, as only that depends on the SM clock.
void findGpuThrottled(RunFindings& run) {
    const std::optional<ClockLoss> loss = clockLossOf(run.run(), run.mean().worker);
    if (!loss) return;
    const auto computeNs = static_cast<double>(run.mean().parts[StepPart::Compute]);
    Finding* found = run.add(static_cast<int64_t>(computeNs * loss->lostShare), minShare, nullptr);
    if (found == nullptr) return;
    // The longest step may have run at full speed.
    found->atNs.reset();
    if (!loss->longest.isEmpty()) found->atNs = loss->longest.startNs;
}

std::optional<TimeRange> longestThrottledTime(const RunSummary& run, const Finding& finding) {
    const std::optional<ClockLoss> loss = clockLossOf(run, finding.worker);
    return loss && !loss->longest.isEmpty() ? std::optional(loss->longest) : std::nullopt;
}

/// A long kernel of another finding is reported as such.
void findLongKernel(RunFindings& run) {
    const Contributor* kernel = longKernel(run.worker(), run.mean().meanNs);
    if (kernel != nullptr && !run.isReportedWork(*kernel)) run.add(run.perStep(kernel->exposedNs), minShare, kernel);
}

std::string sayLongKernel(const FindingText& text) {
    const auto kernel = std::ranges::find_if(text.worker().contributors, [&](const Contributor& each) {
        return each.kind == ContributorKind::Kernel && each.name == text.finding().contributor &&
               each.path == text.finding().path;
    });
    return fmt::format("One kernel takes {}: {}{}", text.time(), text.main(),
                       longKernelText(text.worker(), *kernel, text.unit()));
}

/// Returns the launches of the kernel.
Evidence longKernelEvidence(const FindingText& text) {
    const EvidenceQuery query(text);
    const std::string& name = text.finding().contributor.work;
    int64_t ns = 0;
    for (const Contributor& each : text.worker().contributors)
        if (each.kind == ContributorKind::Kernel && each.name.work == name) ns += each.exposedNs;
    return {query.exposed({query.kernelsNamed({name})}, {}), ns};
}

}  // namespace

const Rule gpuThrottledRule{
    .id = "gpu_throttled",
    .title = "GPU clock is held down",
    .finds =
        "The GPU runs below its clocks for a reason that its driver reports, other than its power cap alone. Estimated "
        "cost: at least 3 % of the step.",
    .advice =
        "Heat: improve cooling and airflow. Power brake: check the shared supply (nvidia-smi -q -d "
        "PERFORMANCE,POWER,TEMPERATURE). If only one GPU is held down, have that GPU checked.",
    .sql =
        "SELECT c.gpuId, c.name, s.timestamp, s.value FROM LANESCOPE_COUNTERS c JOIN LANESCOPE_COUNTER_SAMPLES s ON "
        "s.counterId = c.counterId WHERE c.name IN ('throttle.reasons', 'clock.sm') ORDER BY s.timestamp",
    .find = findGpuThrottled,
    .say = [](const FindingText& text) { return clockSentence(text.run(), text.finding().worker, text.time()); },
    .place = longestThrottledTime,
    .namesWorker = true,
    .isEstimate = true,
};

const Rule longKernelRule{
    .id = "long_kernel",
    .title = "One long kernel",
    .finds =
        "One kernel takes at least a fifth of the step per launch, and at least ten times the mean of the many others.",
    .advice =
        "Check what slows it down: atomic additions one after the other to the same addresses, few blocks while the "
        "rest of the GPU is idle, memory read out of order. Try another operation, layout or algorithm, or split it. A "
        "kernel profiler shows more.",
    .find = findLongKernel,
    .say = sayLongKernel,
    .evidence = longKernelEvidence,
};

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
