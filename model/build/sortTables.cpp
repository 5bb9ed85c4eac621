#include "model/build/sortTables.h"

#include <limits>
#include <vector>

#include "model/build/permute.h"
#include "model/trace/runTasks.h"

namespace lanescope {

namespace {

/// Empty for a table that is sorted already, the usual case.
template <class Table>
std::vector<uint32_t> orderOf(const Table& table, const std::stop_token& stop) {
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
    // Plain, since a sort looks at each many times.
    const std::vector<int64_t> startNs(table.startNs.begin(), table.startNs.end());
    return sortedOrder(
        table.size(),
        [&](uint32_t a, uint32_t b) { return isBefore(a, startNs[a], b, startNs[b]); }, stop);
}

template <class Table, class... Columns>
void sortTable(const std::stop_token& stop, Table& table, Columns... columns) {
    const std::vector<uint32_t> order = orderOf(table, stop);
    if (order.empty()) return;
    permute(table.startNs, order, stop);
    permute(table.endNs, order, stop);
    (permute(table.*columns, order, stop), ...);
}

/// Of several events at one moment the file's order counts: what is freed may be allocated anew.
template <class Table, class... Columns>
void sortMoments(const std::stop_token& stop, Table& table, Columns... columns) {
    const std::vector<uint32_t> order = sortedOrder(
        table.size(),
        [&table](uint32_t a, uint32_t b) { return table.timeNs[a] < table.timeNs[b]; }, stop);
    if (order.empty()) return;
    permute(table.timeNs, order, stop);
    (permute(table.*columns, order, stop), ...);
}

void renumber(Column<uint32_t>& rows, const std::vector<uint32_t>& newRow) {
    Column<uint32_t> renumbered;
    for (const uint32_t row : rows) renumbered.push_back(newRow[row]);
    rows = std::move(renumbered);
}

void sortNccl(NcclTable& table, const std::stop_token& stop) {
    const std::vector<uint32_t> order = sortedOrder(
        table.size(), [&table](uint32_t a, uint32_t b) { return table.nvtx[a] < table.nvtx[b]; },
        stop);
    if (order.empty()) return;
    permute(table.nvtx, order, stop);
    permute(table.operation, order, stop);
    permute(table.bytes, order, stop);
    permute(table.communicator, order, stop);
    permute(table.facts, order, stop);
}

void sortNvtx(Trace& trace, const std::stop_token& stop) {
    NvtxTable& table = trace.nvtx;
    const std::vector<uint32_t> order = orderOf(table, stop);
    if (!order.empty()) {
        permute(table.startNs, order, stop);
        permute(table.endNs, order, stop);
        permute(table.text, order, stop);
        permute(table.domain, order, stop);
        permute(table.category, order, stop);
        permute(table.colorArgb, order, stop);
        permute(table.thread, order, stop);
        permute(table.depth, order, stop);
        permute(table.style, order, stop);
        permute(table.isOpen, order, stop);
        permute(table.payload, order, stop);
        std::vector<uint32_t> newRow(order.size());
        for (uint32_t row = 0; row < order.size(); ++row) newRow[order[row]] = row;
        renumber(trace.nccl.nvtx, newRow);
    }
    sortNccl(trace.nccl, stop);
}

void sortMemcpys(Trace& trace, const std::stop_token& stop) {
    using M = MemcpyTable;
    MigrationTable& migrations = trace.migrations;
    const std::vector<uint32_t> order =
        migrations.size() > 0 ? orderOf(trace.memcpys, stop) : std::vector<uint32_t>();
    sortTable(stop, trace.memcpys, &M::bytes, &M::kind, &M::sourceMemory, &M::destinationMemory,
              &M::sourceDevice, &M::destinationDevice, &M::stream, &M::correlation);
    if (order.empty()) return;
    std::vector<uint32_t> newRow(order.size());
    for (uint32_t row = 0; row < order.size(); ++row) newRow[order[row]] = row;
    renumber(migrations.memcpy, newRow);
    const std::vector<uint32_t> byRow = sortedOrder(
        migrations.size(),
        [&migrations](uint32_t a, uint32_t b) {
            return migrations.memcpy[a] < migrations.memcpy[b];
        },
        stop);
    if (byRow.empty()) return;
    permute(migrations.memcpy, byRow, stop);
    permute(migrations.address, byRow, stop);
    permute(migrations.cause, byRow, stop);
}

}  // namespace

void sortTables(Trace& trace, unsigned threads, const std::stop_token& stop) {
    using K = KernelTable;
    using S = MemsetTable;
    using G = GraphTable;
    using F = PageFaultTable;
    using E = MemoryEventTable;
    using P = MemoryPoolTable;
    using A = ApiTable;
    using W = SyncTable;
    // The largest first.
    runTasks(
        threads,
        {[&] {
             sortTable(stop, trace.apiCalls, &A::name, &A::thread, &A::correlation, &A::returnValue,
                       &A::isDriver);
         },
         [&] {
             sortTable(stop, trace.kernels, &K::config, &K::stream, &K::correlation, &K::graphNode);
         },
         [&] { sortNvtx(trace, stop); },
         [&] {
             sortMemcpys(trace, stop);
             sortTable(stop, trace.memsets, &S::bytes, &S::value, &S::memory, &S::stream,
                       &S::correlation);
             sortTable(stop, trace.graphs, &G::graph, &G::stream, &G::correlation);
             sortTable(stop, trace.pageFaults, &F::address, &F::count, &F::access, &F::process,
                       &F::gpu, &F::instruction);
             sortMoments(stop, trace.memoryEvents, &E::bytes, &E::address, &E::kind, &E::isFree,
                         &E::isPooled, &E::process, &E::gpu, &E::correlation);
             sortMoments(stop, trace.memoryPools, &P::bytes, &P::address, &P::process, &P::gpu);
             sortTable(stop, trace.syncs, &W::type, &W::stream, &W::process, &W::correlation);
         }});
}

}  // namespace lanescope
