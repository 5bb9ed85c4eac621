// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope {

/// One unit for all times of a table or an axis, so that they can be compared and added by eye.
struct DurationScale {
    int64_t unitNs = 1'000'000;
    std::string_view unit = "ms";
    int decimals = 3;

    /// The unit in which the greatest time has one to three digits before the point.
    static DurationScale fitting(int64_t greatestNs);
    /// The same for the parts of a step of this length; but milliseconds up to 100 s, so that what
    /// is small beside a long step can still be seen.
    static DurationScale ofStep(int64_t stepNs);
    /// The last digit that is shown.
    int64_t quantumNs() const { return decimals == 0 ? unitNs : unitNs / 1000; }
    /// "12.345", without the unit.
    std::string number(int64_t ns) const;
    /// "+12.345" or "-12.345"; "0.000" for what rounds to zero.
    std::string difference(int64_t ns) const;
    /// "12.345 ms".
    std::string text(int64_t ns) const;
    /// "+12.345 ms".
    std::string differenceText(int64_t ns) const;
    bool operator==(const DurationScale&) const = default;
};

}  // namespace lanescope
