#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope {

/// One unit for all times of a table, so that they can be compared and added by eye.
struct DurationScale {
    int64_t unitNs = 1'000'000;
    std::string_view unit = "ms";
    int decimals = 3;

    /// The unit in which the greatest time of a table has one to three digits before the point.
    static DurationScale fitting(int64_t greatestNs);
    /// The last digit that is shown.
    int64_t quantumNs() const { return decimals == 0 ? unitNs : unitNs / 1000; }
    /// "12.345", without the unit.
    std::string number(int64_t ns) const;
    /// "+12.345" or "-12.345"; "0.000" for what rounds to zero.
    std::string difference(int64_t ns) const;
};

/// "+12.3" or "-100.0": the difference in percent of `before`; empty if that is 0.
std::string percentDifference(int64_t before, int64_t after);

}  // namespace lanescope
