#pragma once

#include <sys/types.h>

#include <memory>

#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope {

/// A sampler of the GPUs' hardware counters by CUPTI, at `hz` samples a second. Null if this
/// program was built without CUPTI. What it calls may crash: have it in a process of its own.
std::unique_ptr<Sampler> makePmSampler(SampleLog& log, double hz);

}  // namespace lanescope
