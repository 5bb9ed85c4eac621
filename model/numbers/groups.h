// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

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

/// Returns `valueOf` of each item, in their order.
auto mapped(const auto& items, auto valueOf) {
    std::vector<std::remove_cvref_t<decltype(std::invoke(valueOf, *std::begin(items)))>> values;
    values.reserve(std::size(items));
    for (const auto& item : items) values.push_back(std::invoke(valueOf, item));
    return values;
}

/// Returns the sum of `valueOf` of all items, added in their order.
auto sumOf(const auto& items, auto valueOf) {
    std::remove_cvref_t<decltype(std::invoke(valueOf, *std::begin(items)))> sum = 0;
    for (const auto& item : items) sum += std::invoke(valueOf, item);
    return sum;
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
