// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/trace/isStopped.h"

namespace lanescope {

/// Puts `column` into the order of the given rows; leaves it as it is if stopped.
template <class Column>
void permute(Column& column, const std::vector<uint32_t>& order, const std::stop_token& stop) {
    Column permuted;
    for (size_t index = 0; index < order.size(); ++index) {
        if (isStopped(stop, index)) return;
        permuted.push_back(column[order[index]]);
    }
    column = std::move(permuted);
}

/// Sorts rows in steps that do not take long each, so that it can be stopped; then their order
/// means nothing. Stable. O(n log n), but O(n) for stretches that are in order already.
template <class Less>
void sortRows(std::vector<uint32_t>& rows, Less isLess, const std::stop_token& stop) {
    constexpr size_t rowsAtOnce = size_t{1} << 16;
    const size_t count = rows.size();
    const auto at = [count](std::vector<uint32_t>& of, size_t index) {
        return of.begin() + static_cast<std::ptrdiff_t>(std::min(index, count));
    };
    for (size_t first = 0; first < count; first += rowsAtOnce) {
        if (stop.stop_requested()) return;
        const auto end = at(rows, first + rowsAtOnce);
        if (!std::is_sorted(at(rows, first), end, isLess))
            std::stable_sort(at(rows, first), end, isLess);
    }
    std::vector<uint32_t> merged(count > rowsAtOnce ? count : 0);
    for (size_t width = rowsAtOnce; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            if (stop.stop_requested()) return;
            const auto middle = at(rows, first + width);
            const auto end = at(rows, first + 2 * width);
            if (middle == end || !isLess(*middle, *(middle - 1)))
                std::copy(at(rows, first), end, at(merged, first));
            else
                std::merge(at(rows, first), middle, middle, end, at(merged, first), isLess);
        }
        rows.swap(merged);
    }
}

/// The rows `[0, count)` in the order of `isLess`; empty if they stand in it already, the usual
/// case, or if stopped.
template <class Less>
std::vector<uint32_t> sortedOrder(uint32_t count, Less isLess, const std::stop_token& stop) {
    bool isSorted = true;
    for (uint32_t row = 1; row < count && isSorted; ++row) {
        if (isStopped(stop, row)) return {};
        isSorted = !isLess(row, row - 1);
    }
    if (isSorted) return {};
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    sortRows(order, isLess, stop);
    if (stop.stop_requested()) return {};
    return order;
}

}  // namespace lanescope
