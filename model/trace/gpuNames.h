// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/kernelNames.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What the calls of a trace are of, as it is called where people read of them: "CUDA", or "HIP"
/// where AMD's GPUs were at work. By the first call that tells, else by the GPUs. O(GPUs).
std::string_view callWord(const Trace& trace);

/// What the processors of a GPU are called: "SMs", or "CUs" of AMD's. O(1).
std::string_view coresWord(const Gpu& gpu);

/// What a kernel is called in its source, without arguments; the short name of a slice may say more
/// (`LaunchConfig::shortName`). O(length).
inline std::string_view sourceName(const Trace& trace, const LaunchConfig& config) {
    const std::string_view whole = trace.strings.at(config.demangledName);
    return whole.empty() ? trace.strings.at(config.shortName) : kernelBaseName(whole);
}

/// Why the clocks of a GPU were held back, by the bits of NVML's clock event reasons.
struct ThrottleReason {
    uint64_t bit = 0;
    std::string_view name;   ///< "power cap", "hardware thermal".
    bool isSlowdown = true;  ///< False for what is no loss: idle, clocks as the user set them.
    /// What it is in a few words, for who does not know the name: "it draws all the power that it
    /// may".
    std::string_view meaning;
};

/// All that are known.
const std::vector<ThrottleReason>& throttleReasons();

/// The bits of those that slow a GPU down.
uint64_t slowingReasons();

/// "power cap, software thermal"; empty for none, for idleness alone, and for what is no number.
std::string throttleReasonNames(double flags);

}  // namespace lanescope
