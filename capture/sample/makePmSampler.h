#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope::capture {

/// A sampler of the GPUs' hardware counters by CUPTI, at `hz` samples a second, whose `sample` is
/// called each `takePeriodNs`. CUPTI is looked for in `folders`, too. Null if this program was
/// built without CUPTI. What it calls may crash: have it in a process of its own.
std::unique_ptr<Sampler> makePmSampler(SampleLog& log, double hz, int64_t takePeriodNs,
                                       std::vector<std::filesystem::path> folders);

}  // namespace lanescope::capture
