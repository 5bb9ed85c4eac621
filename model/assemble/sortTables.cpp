// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/finishTrace.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

/// Returns the order by start, or an empty one if the table is sorted already, the usual case.
template <class Table>
RowOrder orderOf(const Table& table, const std::stop_token& stop) {
    const auto isBefore = [&table](uint32_t a, int64_t aNs, uint32_t b, int64_t bNs) {
        return aNs != bNs ? aNs < bNs : table.endNs[a] > table.endNs[b];
    };
    bool isSorted = true;
    int64_t lastNs = std::numeric_limits<int64_t>::min();
    for (uint32_t row = 0; row < table.size() && isSorted; ++row) {
        if (isStopped(stop, row)) return {};
        const int64_t startNs = table.startNs[row];
        isSorted = row == 0 || !isBefore(row, startNs, row - 1, lastNs);
        lastNs = startNs;
    }
    if (isSorted) return {};
    // A plain copy, since a sort reads each value many times.
    LargeMemory* const memory = table.startNs.memory();
    const LargeVector<int64_t> startNs(table.startNs.begin(), table.startNs.end(), memory);
    return sortedOrder(
        table.size(), [&](uint32_t a, uint32_t b) { return isBefore(a, startNs[a], b, startNs[b]); }, memory, stop);
}

class Permuter {
  public:
    Permuter(const RowOrder& order, const std::stop_token& stop) : order_(order), stop_(stop) {}

    template <class T>
    void operator()(Column<T>& column) {
        permute(column, order_, stop_);
    }
    template <class T>
    void operator()(RecordColumn<T>& records) {
        permute(records, order_, stop_);
    }
    void operator()(bool) {}  // a property of the whole table

  private:
    const RowOrder& order_;
    const std::stop_token& stop_;
};

/// Sorts a table by one of its columns. The sort is stable, since freed memory may be allocated again at the same time.
template <class Table, class T>
void sortBy(Table& table, const Column<T>& column, const std::stop_token& stop) {
    const RowOrder order = sortedOrder(
        table.size(), [&column](uint32_t a, uint32_t b) { return column[a] < column[b]; }, column.memory(), stop);
    if (!order.empty()) forEachField(table, Permuter(order, stop));
}

/// Renumbers `rows`, which are rows of a table that was sorted into this order.
void renumber(Column<uint32_t>& rows, const RowOrder& order) {
    if (order.empty()) return;
    RowOrder newRow(order.size(), order.get_allocator());
    for (uint32_t row = 0; row < order.size(); ++row) newRow[order[row]] = row;
    Column<uint32_t> renumbered(rows.memory());
    for (const uint32_t row : rows) renumbered.push_back(newRow[row]);
    rows = std::move(renumbered);
}

// Renumbers references to rows of sorted tables.

template <class Kind>
void follow(Trace&, Kind, const RowOrder&, const std::stop_token&) {}

void follow(Trace& trace, kinds::Nvtx, const RowOrder& order, const std::stop_token& stop) {
    renumber(trace.nccl.nvtx, order);
    sortBy(trace.nccl, trace.nccl.nvtx, stop);
    renumber(trace.backwards.forward, order);
    renumber(trace.backwards.backward, order);
}

void follow(Trace& trace, kinds::Memcpy, const RowOrder& order, const std::stop_token& stop) {
    renumber(trace.migrations.memcpy, order);
    sortBy(trace.migrations, trace.migrations.memcpy, stop);
}

template <class Kind>
void sortEvents(Trace& trace, Kind kind, const std::stop_token& stop) {
    const RowOrder order = orderOf(kind.table(trace), stop);
    if (!order.empty()) forEachField(kind.table(trace), Permuter(order, stop));
    follow(trace, kind, order, stop);
}

}  // namespace

void sortTables(Trace& trace, unsigned threads, const std::stop_token& stop) {
    struct Sorting {
        uint32_t rows;
        std::function<void()> run;
    };
    std::vector<Sorting> sortings;
    forEachKind([&](auto each) {
        if constexpr (each.origin == kinds::Origin::Recorded)
            sortings.push_back({each.size(trace), [&, each] { sortEvents(trace, each, stop); }});
    });
    sortings.push_back({trace.memoryEvents.size(), [&] {
                            sortBy(trace.memoryEvents, trace.memoryEvents.timeNs, stop);
                            sortBy(trace.memoryPools, trace.memoryPools.timeNs, stop);
                        }});
    sortings.push_back({trace.graphNodes.size(), [&] { sortBy(trace.graphNodes, trace.graphNodes.timeNs, stop); }});
    // The largest first, so that the threads end together.
    std::ranges::stable_sort(sortings, std::greater(), &Sorting::rows);
    Tasks tasks;
    for (Sorting& sorting : sortings) tasks.push_back(std::move(sorting.run));
    runTasks(threads, tasks);
}

}  // namespace lanescope
