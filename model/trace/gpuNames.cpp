// SPDX-License-Identifier: Apache-2.0
#include "model/trace/gpuNames.h"

#include <fmt/format.h>

namespace lanescope {

const std::vector<ThrottleReason>& throttleReasons() {
    static const std::vector<ThrottleReason> reasons{
        {0x1, "idle", false, "it is idle"},
        {0x2, "clocks set by the user", false, "its clocks are set to that"},
        {0x4, "power cap", true, "it is at its power limit"},
        {0x8, "hardware slowdown", true, "its hardware slows it down, for heat or power"},
        {0x10, "sync boost", true, "it follows the clocks of the GPUs in its group"},
        {0x20, "software thermal", true, "it is at its long-term temperature limit"},
        {0x40, "hardware thermal", true, "it is too hot"},
        {0x80, "hardware power brake", true, "the power supply of the machine requests less power"},
        {0x100, "display clocks", false, "a display requests it"},
    };
    return reasons;
}

uint64_t slowingReasons() {
    uint64_t flags = 0;
    for (const ThrottleReason& each : throttleReasons())
        if (each.isSlowdown) flags |= each.bit;
    return flags;
}

std::string throttleReasonNames(double flags) {
    constexpr double maxFlags = 9e15;  // Whole numbers are exact below this.
    if (!(flags > 0) || flags > maxFlags) return {};
    auto bits = static_cast<uint64_t>(flags);
    std::string names;
    for (const ThrottleReason& reason : throttleReasons()) {
        if ((bits & reason.bit) == 0) continue;
        bits &= ~reason.bit;
        if (!reason.isSlowdown) continue;
        if (!names.empty()) names += ", ";
        names += reason.name;
    }
    if (bits != 0) names += fmt::format("{}reason 0x{:x}", names.empty() ? "" : ", ", bits);
    return names;
}

}  // namespace lanescope
