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

}  // namespace lanescope
