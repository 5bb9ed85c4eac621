// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope {

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
