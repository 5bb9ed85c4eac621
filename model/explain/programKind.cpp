// SPDX-License-Identifier: Apache-2.0
#include "model/explain/programKind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "model/analysis/shownNumbers.h"
#include "model/numbers/Statistics.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Parts of names of kernels, ranges, lines and threads.
constexpr std::array<std::string_view, 8> torchParts{"at::native::", "at::cuda::",     "c10::",        "pt_autograd",
                                                     "torch/",       "Optimizer.step", "ProfilerStep", "aten::"};
constexpr std::array<std::string_view, 4> jaxParts{"(XlaModule)", "(Thunk)", "jax/", "jaxlib"};

bool isOfName(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

/// Returns true if the text has a part that does not begin within a name: "ajax/" is not "jax/".
bool hasAny(std::string_view text, std::span<const std::string_view> parts) {
    return std::ranges::any_of(parts, [text](std::string_view part) {
        size_t at = text.find(part);
        while (at != std::string_view::npos && at > 0 && isOfName(part.front()) && isOfName(text[at - 1]))
            at = text.find(part, at + 1);
        return at != std::string_view::npos;
    });
}

bool isTorchWork(ThreadWork work) {
    return work == ThreadWork::Dynamo || work == ThreadWork::Inductor || work == ThreadWork::TorchData ||
           work == ThreadWork::TorchOptimizer;
}

class KindFinder {
  public:
    explicit KindFinder(const RunSummary& run) {
        see(run.pattern);
        for (const StepUnit& unit : run.units) see(unit.pattern);
        for (const WorkerSummary& worker : run.workers) {
            see(worker.launches.place.text);
            see(worker.allocations.freedAt.text);
            for (const Contributor& each : worker.contributors) see(each);
        }
    }
    ProgramKind kind() const {
        // XLA also runs parts of PyTorch programs, but those have kernels of PyTorch, too.
        using enum ProgramKind::Framework;
        return {isTorch_ ? Torch : isJax_ ? Jax : Unknown, api_};
    }

  private:
    void see(std::string_view text) {
        isTorch_ = isTorch_ || hasAny(text, torchParts);
        isJax_ = isJax_ || hasAny(text, jaxParts);
    }
    void see(const Contributor& each) {
        see(each.name.work);
        see(each.path);
        see(each.launched.text);
        if (const std::optional<KernelClass> kernel = classOf(each); kernel && kernel->origin != KernelOrigin::Unknown)
            (kernel->origin == KernelOrigin::Xla ? isJax_ : isTorch_) = true;
        const IdleCause& cause = each.name.idle;
        see(cause.thread.name);
        isTorch_ = isTorch_ || isTorchWork(cause.activity.work);
        isJax_ = isJax_ || cause.activity.work == ThreadWork::Jax;
        if (cause.api == GpuApi::Hip || gpuApiOf(cause.call) == GpuApi::Hip) api_ = GpuApi::Hip;
    }

    bool isTorch_ = false, isJax_ = false;
    GpuApi api_ = GpuApi::Cuda;
};

}  // namespace

ProgramKind programKindOf(const RunSummary& run) { return KindFinder(run).kind(); }

std::string adviceFor(const RunSummary& run, const AdviceByFramework& advice) {
    const ProgramKind kind = programKindOf(run);
    using enum ProgramKind::Framework;
    const std::string_view own = kind.framework == Torch ? advice.torch
                                 : kind.framework == Jax ? advice.jax
                                                         : advice.other;
    return fmt::format(fmt::runtime(own.empty() ? advice.torch : own), fmt::arg("api", name(kind.api)),
                       fmt::arg("prefix", identifier(kind.api)));
}

std::string adviceOf(const RunSummary& run, const Rule& rule) {
    return adviceFor(run, {rule.advice, rule.jaxAdvice, rule.otherAdvice});
}

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
