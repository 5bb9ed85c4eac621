// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"
#include "model/analysis/stepPatterns.h"
#include "model/explain/Rule.h"
#include "model/text/apiCalls.h"

namespace lanescope::explain {

/// The means by which a program uses its GPUs.
struct ProgramKind {
    enum class Framework : uint8_t { Unknown, Torch, Jax };

    Framework framework = Framework::Unknown;
    GpuApi api = GpuApi::Cuda;
    bool operator==(const ProgramKind&) const = default;
};

/// Returns the kind by the names of kernels, calls, threads and ranges, and by lines. O(contributors).
ProgramKind programKindOf(const analysis::RunSummary& run);

/// Advice in the words of each framework, as that of a rule.
struct AdviceByFramework {
    std::string_view torch, jax, other;
};

/// Returns the advice for the program of a run.
std::string adviceFor(const analysis::RunSummary& run, const AdviceByFramework& advice);
/// Returns the advice of a rule for the program of a run, whatever the finding.
std::string adviceOf(const analysis::RunSummary& run, const Rule& rule);

/// Returns the class of a kernel, nullopt for other contributors.
std::optional<KernelClass> classOf(const analysis::Contributor& each);

/// Returns the kernel that takes at least a fifth of the mean step at each launch, in steps with many much shorter
/// kernels: something holds it up. Null if there is none. `meanNs` is the mean step.
const analysis::Contributor* longKernel(const analysis::WorkerSummary& worker, int64_t meanNs);

/// Returns "1 time per step it takes 9.53 ms, 201 times as long as the mean of the 146 others." for that kernel.
std::string longKernelText(const analysis::WorkerSummary& worker, const analysis::Contributor& kernel,
                           const std::string& per);

/// Returns the time of a part in the median step. At least half of the steps have as much: a property of the program.
int64_t ofTypicalStepNs(const analysis::WorkerSummary& worker, analysis::StepPart part);

/// Returns true for a kernel that only sets memory, as PyTorch's `fill_`: a memset that no driver reports.
bool isFill(const analysis::Contributor& each);

/// Returns true if the steps of a pattern are longer by GPU compute time, and not so long that they are outliers:
/// batches of several sizes, in turn or in no order. That is what the program does, and nothing is lost if nothing
/// waits for it. False for steps that grow or that are longer from one on.
bool isOfBatchSize(const analysis::StepPattern& pattern, const analysis::WorkerSummary& worker);

}  // namespace lanescope::explain
