// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <stop_token>
#include <utility>

#include "model/numbers/LargeMemory.h"
#include "model/trace/Trace.h"
#include "model/trace/processes.h"

namespace lanescope {

using RowOrder = LargeVector<uint32_t>;

/// Sorts `column` into the order of the given rows. Unchanged if stopped.
template <class Column>
void permute(Column& column, const RowOrder& order, const std::stop_token& stop) {
    Column permuted(order.get_allocator().memory());
    for (size_t index = 0; index < order.size(); ++index) {
        if (isStopped(stop, index)) return;
        permuted.push_back(column[order[index]]);
    }
    column = std::move(permuted);
}

/// Returns the rows `[0, count)` in the order of `isLess`, allocated in `memory`. Empty if they are
/// sorted already, the usual case, or if stopped.
template <class Less>
RowOrder sortedOrder(uint32_t count, Less isLess, LargeMemory* memory, const std::stop_token& stop) {
    RowOrder order(memory);
    bool isSorted = true;
    for (uint32_t row = 1; row < count && isSorted; ++row) {
        if (isStopped(stop, row)) return order;
        isSorted = !isLess(row, row - 1);
    }
    if (isSorted) return order;
    order.resize(count);
    std::iota(order.begin(), order.end(), 0u);
    sortLarge(order, isLess, stop);
    if (stop.stop_requested()) order.clear();
    return order;
}

/// Sorts every event table by start, the longest first at equal starts, and keeps the references of `nccl` to rows of
/// `nvtx`. O(n) for sorted tables. If stopped, the tables keep their length and their order is undefined.
void sortTables(Trace& trace, unsigned threads, const std::stop_token& stop);

}  // namespace lanescope
