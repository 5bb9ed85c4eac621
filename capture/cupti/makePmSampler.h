// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope::capture {

/// Returns the sampler of hardware counters by CUPTI: a `MakeMetricsSampler`. Never null.
std::unique_ptr<Sampler> makePmSampler(SampleLog& log, double hz, int64_t takePeriodNs,
                                       std::vector<std::filesystem::path> folders);

}  // namespace lanescope::capture
