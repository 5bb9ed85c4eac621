// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/kernelNames.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the name of a GPU's processors: "SMs", or "CUs" for AMD's. O(1).
inline std::string_view processorsName(const Gpu& gpu) { return gpu.vendor == GpuVendor::Amd ? "CUs" : "SMs"; }

/// Returns the kernel's name in its source without arguments; `LaunchConfig::shortName` may be more
/// detailed. O(length).
inline std::string_view sourceName(const Trace& trace, const LaunchConfig& config) {
    const std::string_view whole = trace.strings.at(config.demangledName);
    return whole.empty() ? trace.strings.at(config.shortName) : kernelBaseName(whole);
}

/// Reason for reduced GPU clocks, by the bits of NVML's clock event reasons.
struct ThrottleReason {
    uint64_t bit = 0;
    std::string_view name;   ///< "power cap", "hardware thermal".
    bool isSlowdown = true;  ///< False if it is no loss: idle, clocks set by the user.
    /// Short explanation, such as "it draws all the power that it may".
    std::string_view meaning;
};

const std::vector<ThrottleReason>& throttleReasons();

/// Returns the bits of the reasons that slow a GPU down.
uint64_t slowingReasons();

/// Returns "power cap, software thermal"; empty for none, for idle alone, and for NaN.
std::string throttleReasonNames(double flags);

}  // namespace lanescope
