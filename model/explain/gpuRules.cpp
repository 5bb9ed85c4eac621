// SPDX-License-Identifier: Apache-2.0
// Rules about a GPU at work: its clocks and single kinds of kernels.

#include <fmt/format.h>

#include <algorithm>

#include "model/explain/FindingText.h"
#include "model/explain/RunFindings.h"
#include "model/explain/clockLoss.h"
#include "model/explain/findingQueries.h"
#include "model/explain/kernelKinds.h"
#include "model/explain/rules.h"
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

std::string sayGpuThrottled(const FindingText& text) {
    return clockSentence(text.run(), text.finding().worker, text.time());
}

std::optional<TimeRange> longestThrottledTime(const RunSummary& run, const Finding& finding) {
    const std::optional<ClockLoss> loss = clockLossOf(run, finding.worker);
    return loss && !loss->longest.isEmpty() ? std::optional(loss->longest) : std::nullopt;
}

/// Copies within the GPU and kernels that only move values, which good programs have, too: a
/// program that computes in two types spent up to 22 % of its kernels' time on conversions.
constexpr double minMovementShare = 1.0 / 3;
/// Products in double precision among others, of which a few may be intended.
constexpr double minDoubleShare = 0.10;

void findDataMovement(RunFindings& run) {
    run.add(run.exposedNs(movesWithinGpu), minMovementShare, run.greatest(movesWithinGpu));
}

std::string sayDataMovement(const FindingText& text) {
    return fmt::format("Copies within the GPU and kernels that only move values take {}: mostly {}, {}.", text.time(),
                       text.main(), text.times());
}

void findDoublePrecision(RunFindings& run) {
    if (hasOtherProducts(run.worker()))
        run.add(run.exposedNs(isDoubleProduct), minDoubleShare, run.greatest(isDoubleProduct));
}

std::string sayDoublePrecision(const FindingText& text) {
    return fmt::format("Products in double precision take {}, next to others in lower precision: mostly {}, {}.",
                       text.time(), text.main(), text.times());
}

/// Products of fp32 of which most of the step consists.
constexpr double minSingleShare = 1.0 / 3;

void findSinglePrecision(RunFindings& run) {
    if (run.worker().hasTensorFloat)
        run.add(run.exposedNs(isSinglePrecisionProduct), minSingleShare, run.greatest(isSinglePrecisionProduct));
}

std::string saySinglePrecision(const FindingText& text) {
    return fmt::format("Matrix products of fp32 take {} while the tensor cores of {} are idle: mostly {}, {}.",
                       text.time(), text.worker().gpuName.empty() ? "the GPU" : printable(text.worker().gpuName),
                       text.main(), text.times());
}

/// A long kernel that moves values or multiplies in double precision is reported as such.
void findLongKernel(RunFindings& run) {
    const Contributor* kernel = longKernel(run.worker(), run.mean().meanNs);
    if (kernel != nullptr && !(run.has(doublePrecisionRule) && isDoubleProduct(*kernel)) &&
        !(run.has(singlePrecisionRule) && isSinglePrecisionProduct(*kernel)) &&
        !(run.has(dataMovementRule) && movesWithinGpu(*kernel)))
        run.add(run.perStep(kernel->exposedNs), minShare, kernel);
}

std::string sayLongKernel(const FindingText& text) {
    const auto kernel = std::ranges::find_if(text.worker().contributors, [&](const Contributor& each) {
        return each.kind == ContributorKind::Kernel && each.name == text.finding().contributor &&
               each.path == text.finding().path;
    });
    return fmt::format("One kernel takes {}: {}{}", text.time(), text.main(),
                       longKernelText(text.worker(), *kernel, text.unit()));
}

/// Returns the kernels and copies of a kind in the steps.
Evidence workEvidence(const FindingText& text, IsOf isOf) {
    const EvidenceQuery query(text.run(), text.finding().worker);
    const bool hasCopies = std::ranges::any_of(text.worker().contributors, [isOf](const Contributor& each) {
        return each.kind == ContributorKind::Copy && isOf(each);
    });
    std::vector<std::string> kernels;
    for (const Contributor& each : text.worker().contributors)
        if (each.kind == ContributorKind::Kernel && isOf(each) &&
            std::ranges::find(kernels, each.name.work) == kernels.end())
            kernels.push_back(each.name.work);
    std::vector<std::string> sets{query.kernelsNamed(kernels)};
    if (hasCopies) sets.push_back(query.copies("k.copyKind = 8"));
    return {query.exposed(sets, {}), sumNs(text.worker(), isOf)};
}

/// Returns the launches of the kernel.
Evidence longKernelEvidence(const FindingText& text) {
    const EvidenceQuery query(text.run(), text.finding().worker);
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
        "SELECT c.gpuId, c.name, s.timestamp, s.value FROM LANESCOPE_COUNTERS c JOIN "
        "LANESCOPE_COUNTER_SAMPLES s ON s.counterId = c.counterId WHERE c.name IN "
        "('throttle.reasons', 'clock.sm') ORDER BY s.timestamp",
    .find = findGpuThrottled,
    .say = sayGpuThrottled,
    .place = longestThrottledTime,
    .namesWorker = true,
};

const Rule dataMovementRule{
    .id = "data_movement",
    .title = "Copies and moves within the GPU",
    .finds =
        "Copies within the GPU without overlap, and kernels that only move values, take at least a third of the step.",
    .advice =
        "Write results where they are wanted (out=, a buffer that is made once instead of "
        "concatenating what grows), keep one memory format, views instead of clones, and convert "
        "types once.",
    .find = findDataMovement,
    .say = sayDataMovement,
    .evidence = [](const FindingText& text) { return workEvidence(text, movesWithinGpu); },
};

const Rule doublePrecisionRule{
    .id = "double_precision",
    .title = "Matrix products in double precision",
    .finds = "Matrix products in double precision take at least 10 % of the step, next to others in lower precision.",
    .advice =
        "If that is not intended, convert the first float64 value at its source (NumPy arrays are float64): every "
        "result computed with it is in double precision, too.",
    .find = findDoublePrecision,
    .say = sayDoublePrecision,
    .evidence = [](const FindingText& text) { return workEvidence(text, isDoubleProduct); },
};

const Rule singlePrecisionRule{
    .id = "single_precision",
    .title = "fp32 products leave tensor cores idle",
    .finds =
        "Matrix products of fp32 without tensor cores take at least a third of the step, on a GPU that multiplies fp32 "
        "as TF32.",
    .advice =
        "torch.set_float32_matmul_precision(\"high\") uses TF32 if 10 bits of mantissa suffice for products; bf16 "
        "(torch.autocast) is faster still. JAX: jax_default_matmul_precision.",
    .sql =
        "SELECT s.value AS kernel, count(*) AS launches, sum(k.end - k.start) AS ns FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE (s.value LIKE '%sgemm%' OR "
        "s.value LIKE '%simt_s%' OR s.value LIKE '%f32f32_f32f32_f32%' OR s.value LIKE '%scudnn%') AND s.value NOT "
        "LIKE '%tf32%' GROUP BY 1 ORDER BY ns DESC",
    .find = findSinglePrecision,
    .say = saySinglePrecision,
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

}  // namespace lanescope::explain
