#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace lanescope {

/// Puts `column` into the order of the given rows.
template <class Column>
void permute(Column& column, const std::vector<uint32_t>& order) {
    Column permuted;
    for (const uint32_t row : order) permuted.push_back(column[row]);
    column = std::move(permuted);
}

/// The rows `[0, count)` in the order of `isLess`; empty if they stand in it already, the usual
/// case.
template <class Less>
std::vector<uint32_t> sortedOrder(uint32_t count, Less isLess) {
    bool isSorted = true;
    for (uint32_t row = 1; row < count && isSorted; ++row) isSorted = !isLess(row, row - 1);
    if (isSorted) return {};
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), isLess);
    return order;
}

}  // namespace lanescope
