// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

namespace lanescope {

/// Calls `visit(group)` for each group of adjacent items with the same `keyOf`, as a span.
void forEachGroup(auto&& items, auto keyOf, auto visit) {
    for (std::span rest(items); !rest.empty();) {
        const auto isOther = [&](const auto& item) {
            return std::invoke(keyOf, item) != std::invoke(keyOf, rest.front());
        };
        const auto group = rest.first(static_cast<size_t>(std::ranges::find_if(rest, isOther) - rest.begin()));
        visit(group);
        rest = rest.subspan(group.size());
    }
}

/// Returns the first number of `[low, high)` for which `isBefore` is false; `high` if none. The numbers for which it is
/// true precede all others. O(log n).
template <class Number>
Number firstNotBefore(Number low, Number high, const auto& isBefore) {
    while (low < high) {
        const Number middle = low + (high - low) / 2;
        isBefore(middle) ? low = middle + 1 : high = middle;
    }
    return low;
}

}  // namespace lanescope
