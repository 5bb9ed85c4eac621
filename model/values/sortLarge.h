// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <stop_token>

namespace lanescope {

/// Sorts a `LargeVector` with no memory but what lies where it lies, in steps that do not take long
/// each, so that it can be stopped; then the order means nothing. Stable. O(n log n), but O(n) for
/// stretches that are in order already.
template <class Vector, class Less>
void sortLarge(Vector& values, Less isLess, const std::stop_token& stop = {}) {
    constexpr size_t valuesAtOnce = size_t{1} << 16;
    const size_t count = values.size();
    const auto at = [count](Vector& of, size_t index) {
        return of.begin() + static_cast<std::ptrdiff_t>(std::min(index, count));
    };
    for (size_t first = 0; first < count; first += valuesAtOnce) {
        if (stop.stop_requested()) return;
        const auto end = at(values, first + valuesAtOnce);
        if (!std::is_sorted(at(values, first), end, isLess))
            std::stable_sort(at(values, first), end, isLess);
    }
    Vector merged(values.get_allocator());
    if (count > valuesAtOnce) merged.resize(count);
    for (size_t width = valuesAtOnce; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            if (stop.stop_requested()) return;
            const auto middle = at(values, first + width);
            const auto end = at(values, first + 2 * width);
            if (middle == end || !isLess(*middle, *(middle - 1)))
                std::copy(at(values, first), end, at(merged, first));
            else
                std::merge(at(values, first), middle, middle, end, at(merged, first), isLess);
        }
        values.swap(merged);
    }
}

}  // namespace lanescope
