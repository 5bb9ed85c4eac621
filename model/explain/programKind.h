// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace lanescope::explain
