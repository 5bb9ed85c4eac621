// SPDX-License-Identifier: Apache-2.0
#include "model/trace/throttleReasons.h"

#include <fmt/format.h>

namespace lanescope {

const std::vector<ThrottleReason>& throttleReasons() {
    static const std::vector<ThrottleReason> reasons{
        {0x1, "idle", false},
        {0x2, "clocks set by the user", false},
        {0x4, "power cap", true},
        {0x8, "hardware slowdown", true},
        {0x10, "sync boost", true},
        {0x20, "software thermal", true},
        {0x40, "hardware thermal", true},
        {0x80, "hardware power brake", true},
        {0x100, "display clocks", false},
    };
    return reasons;
}

std::string throttleReasonNames(double flags) {
    constexpr double mostFlags = 9e15;  // whole numbers are exact below
    if (!(flags > 0) || flags > mostFlags) return {};
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
