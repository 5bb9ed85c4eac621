#pragma once

#include "capture/sample/SamplerOptions.h"

namespace lanescope::capture {

/// The whole of a sampler process: samples until standard input ends, which the recorder holds
/// open, then writes its last record and leaves. Never prints, never returns.
[[noreturn]] void runSampler(const SamplerOptions& options);

}  // namespace lanescope::capture
