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
RowOrder sortedOrder(uint32_t count, auto isLess, LargeMemory* memory, const std::stop_token& stop) {
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

/// Fills `streamWaits` from `eventRecords` and `eventWaits`, and empties these two. Pairs each wait with the last
/// earlier record of its event. Calls are ordered by correlation, which CUPTI counts upwards within a process. Waits
/// without a record and waits of a stream for itself have no effect and are skipped. O(n log n) in records and waits.
void buildWaits(Trace& trace);

/// Sorts `backwards` by the sorted ranges, removes duplicates and pairs of one range with itself, and fills the column
/// for the reverse direction. O(n log n). If stopped, the order of the table is undefined.
void buildBackwards(Trace& trace, const std::stop_token& stop);

/// Assigns Python stacks to calls, ranges and CUDA graph nodes of threads without Python.
/// - They get the latest earlier stack of the main thread of their process, which waits for them,
///   as in PyTorch's backward.
/// - If the main thread has no stacks, they get the latest stack of any thread.
/// - Then copied nodes get the stack of their original, and nodes are sorted by process and number.
///
/// Requires that all tables are sorted by time. O(n), O(n log n) in nodes.
void buildStacks(Trace& trace, const std::stop_token& stop);

/// Fills `projections`. A projection exists for each stream and NVTX range other than Python
/// functions. It spans the first start to the last end of the GPU work whose launching call starts
/// within the range on its thread. Requires `Trace::links`. O((calls + ranges) log calls + ranges *
/// streams used by their thread). If stopped, `projections` is unchanged.
void buildProjections(Trace& trace, const std::stop_token& stop);

/// Finds the GPU work of each NCCL call: the work launched in the launch interval that NCCL reported, else within the
/// range of the call. Sets `gpu`, `operationCount` and `sharedBy` of its facts. Requires sorted tables, links and
/// projections. O(n log n). If stopped, the result is incomplete.
void buildNcclWork(Trace& trace, const std::stop_token& stop);

/// Splits the GPU work of each collective into waiting, until the work of the last rank begins, and transfer. Applies
/// to collectives that all ranks of the communicator join and wait for. Sets `waitedNs` of their facts.
/// - In a Broadcast or Scatter, the other ranks wait for the root. In a Reduce or Gather, only the root waits. The
/// value
///   of ranks that only send stays unknown.
/// - It stays unknown if the trace lacks a rank, its work or the root.
/// - It stays unknown if a rank ends before the last one begins, since clocks or calls are then
///   wrong.
///
/// Requires `buildNcclWork`. O(n log n). If stopped, the result is incomplete.
void buildNcclWaits(Trace& trace, const std::stop_token& stop);

/// Notes ranks whose NCCL Inspector log lacks operations: numbers between those of their own or of other ranks, if they
/// are at least a hundredth. O(n log n) in the operations.
void noteMissingOperations(Trace& trace, const std::stop_token& stop);

/// Finishes a trace with filled tables: sorts them, finds time ranges, ends open NVTX ranges, and builds depths, links,
/// projections, tracks and sums. Every index in the tables must be valid. If the end of a process is known, its range
/// must contain it as `endNs`. Uses `threads` threads. The result does not depend on their number. O(n log n). Returns
/// false soon after any thread requests `stop`. The trace can then only be freed.
bool finishTrace(Trace& trace, unsigned threads = 1, const std::stop_token& stop = {});

}  // namespace lanescope
