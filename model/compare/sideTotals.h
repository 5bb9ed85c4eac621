#pragma once

#include <compare>
#include <map>
#include <string>

#include "model/compare/Comparison.h"

namespace lanescope {

/// What is compared with its like on the other side.
struct DifferenceKey {
    DifferenceGroup group = DifferenceGroup::Kernel;
    std::string name;
    auto operator<=>(const DifferenceKey&) const = default;
};

/// Sums up the events of `trace` that start in `range`. Linear in the events.
std::map<DifferenceKey, SideTotal> sideTotals(const Trace& trace, TimeRange range);

}  // namespace lanescope
