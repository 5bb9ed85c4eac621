// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"
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

/// Advice in the words of each framework. {api} stands for "CUDA" or "HIP", {prefix} for "cuda" or "hip".
struct AdviceByFramework {
    std::string_view torch;
    std::string_view jax;
    std::string_view other;  ///< For programs without a known framework.
};

/// Returns the advice for the program of a run.
std::string adviceFor(const analysis::RunSummary& run, const AdviceByFramework& advice);

}  // namespace lanescope::explain
