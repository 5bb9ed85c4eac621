// SPDX-License-Identifier: Apache-2.0
#include "model/explain/programKind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "model/explain/kernelKinds.h"

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
            see(worker.launches.place);
            see(worker.allocations.freedAt);
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
        see(each.launched);
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

}  // namespace lanescope::explain
