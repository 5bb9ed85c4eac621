#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope {

/// A sampler of the GPUs' hardware counters by CUPTI, at `hz` samples a second, whose `sample` is
/// called each `takePeriodNs`. Null if this program was built without CUPTI. What it calls may crash: have it in a process of its own.
std::unique_ptr<Sampler> makePmSampler(SampleLog& log, double hz, int64_t takePeriodNs);

}  // namespace lanescope
