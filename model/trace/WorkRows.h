// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <utility>

#include "model/trace/Column.h"
#include "model/trace/Trace.h"
#include "model/trace/processes.h"

namespace lanescope {

/// Rows of a table grouped by owner, such as a thread, in table order within each. Results can be built owner by owner,
/// with memory for one at a time. 4 bytes per row and per owner, in the memory of the column.
class RowsByOwner {
  public:
    RowsByOwner() = default;
    /// `owners` is a sequence that is read twice, of numbers below `count`, or others for rows without an owner. Keeps
    /// rows that `isWanted` accepts by number; incomplete or wrong if stopped. O(rows + count).
    RowsByOwner(const auto& owners, size_t count, LargeMemory* memory, const std::stop_token& stop, auto isWanted)
        : ends_(count + 1, 0, memory), rows_(memory) {
        const auto forEach = [&](auto take) {
            uint32_t row = 0;
            for (const uint32_t owner : owners) {
                if (isStopped(stop, row)) return;
                if (owner < count && isWanted(row)) take(owner, row);
                ++row;
            }
        };
        uint32_t total = 0;
        forEach([&](uint32_t owner, uint32_t) {
            ++ends_[owner + 1];
            ++total;
        });
        for (size_t owner = 1; owner <= count; ++owner) ends_[owner] += ends_[owner - 1];
        // While rows are distributed, each entry is the position of its owner's next row.
        rows_.resize(total);
        if (stop.stop_requested()) return;
        LargeVector<uint32_t> next(ends_.begin(), ends_.end(), memory);
        forEach([&](uint32_t owner, uint32_t row) { rows_[next[owner]++] = row; });
    }
    /// Groups by a column, in its memory.
    RowsByOwner(const Column<uint32_t>& owners, size_t count, const std::stop_token& stop, auto isWanted)
        : RowsByOwner(owners, count, owners.memory(), stop, isWanted) {}
    RowsByOwner(const Column<uint32_t>& owners, size_t count, const std::stop_token& stop)
        : RowsByOwner(owners, count, stop, [](uint32_t) { return true; }) {}

    std::span<const uint32_t> of(uint32_t owner) const {
        if (size_t{owner} + 1 >= ends_.size()) return {};
        return std::span(rows_).subspan(ends_[owner], ends_[owner + 1] - ends_[owner]);
    }

  private:
    LargeVector<uint32_t> ends_;  ///< Begin of each owner's rows, and end of the last.
    LargeVector<uint32_t> rows_;
};

/// GPU work of each process on each GPU: rows of its tables, in order. Built once for all, so that
/// queries for every process and GPU cost no more than the work itself. Immutable; any thread.
class WorkRows {
  public:
    /// O(streams log streams, and rows of GPU work); 4 bytes per row, in the trace's memory.
    explicit WorkRows(const Trace& trace);

    /// Rows of each kind of a process on a GPU; empty if it ran nothing there.
    struct WorkerRows {
        std::span<const uint32_t> kernels, memcpys, memsets, graphs;
    };
    /// O(log streams).
    WorkerRows of(uint32_t process, uint32_t gpu) const;

  private:
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  ///< By process and GPU.
    RowsByOwner kernels_, memcpys_, memsets_, graphs_;           ///< By those numbers.
};

}  // namespace lanescope
