// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "capture/sample/SamplerOptions.h"

namespace lanescope::capture {

/// Makes a sampler of the GPUs' hardware counters, at `hz` samples a second, whose `sample` is
/// called each `takePeriodNs`. CUPTI is looked for in `folders`, too. What it calls may crash.
using MakeMetricsSampler = std::function<std::unique_ptr<Sampler>(
    SampleLog& log, double hz, int64_t takePeriodNs, std::vector<std::filesystem::path> folders)>;

/// The whole of a sampler process: samples until standard input ends, which the recorder holds
/// open, then writes its last record and leaves. Never prints, never returns. `makeMetricsSampler`
/// is empty in a program that was built without CUPTI; the log says so where GPU metrics are asked
/// for.
[[noreturn]] void runSampler(const SamplerOptions& options,
                             const MakeMetricsSampler& makeMetricsSampler);

}  // namespace lanescope::capture
