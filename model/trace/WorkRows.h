// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/trace/Column.h"
#include "model/trace/Trace.h"
#include "model/trace/tasks.h"

namespace lanescope {

/// The rows of a table by whose they are, a thread's say, each owner's in the order of the table.
/// So what is made of rows can be made owner by owner: that takes memory for one at a time, however
/// many there are. 4 bytes a row and an owner, in the memory of the column.
class RowsByOwner {
  public:
    /// Of no table.
    RowsByOwner() = default;
    /// `owners` is a sequence to be gone through twice, of numbers below `count`, or others for
    /// rows that nobody owns. Of rows that `isWanted`, by their number; not all, or others', if
    /// stopped. O(rows + count).
    template <class Owners, class IsWanted>
    RowsByOwner(const Owners& owners, size_t count, LargeMemory* memory,
                const std::stop_token& stop, IsWanted isWanted)
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
        // While rows are dealt out, each place holds where its owner's next one goes.
        rows_.resize(total);
        if (stop.stop_requested()) return;
        LargeVector<uint32_t> next(ends_.begin(), ends_.end(), memory);
        forEach([&](uint32_t owner, uint32_t row) { rows_[next[owner]++] = row; });
    }
    /// By a column, in its memory.
    template <class IsWanted>
    RowsByOwner(const Column<uint32_t>& owners, size_t count, const std::stop_token& stop,
                IsWanted isWanted)
        : RowsByOwner(owners, count, owners.memory(), stop, isWanted) {}
    RowsByOwner(const Column<uint32_t>& owners, size_t count, const std::stop_token& stop)
        : RowsByOwner(owners, count, stop, [](uint32_t) { return true; }) {}

    std::span<const uint32_t> of(uint32_t owner) const {
        if (size_t{owner} + 1 >= ends_.size()) return {};
        return std::span(rows_).subspan(ends_[owner], ends_[owner + 1] - ends_[owner]);
    }

  private:
    LargeVector<uint32_t> ends_;  ///< Before the owner's first row, and behind the last one's.
    LargeVector<uint32_t> rows_;
};

/// What each process ran on each GPU: rows of the tables of GPU work, in their order. Made once for
/// all, so that what is asked of every process and GPU in turn takes no longer than the work does.
/// Immutable; any thread.
class WorkRows {
  public:
    /// O(streams log streams, and rows of GPU work); 4 bytes a row, in the trace's memory.
    explicit WorkRows(const Trace& trace);

    /// Of a process on a GPU, by their indices: the rows of one kind; none of what ran nothing.
    struct OfWorker {
        std::span<const uint32_t> kernels, memcpys, memsets, graphs;
    };
    /// O(log streams).
    OfWorker of(uint32_t process, uint32_t gpu) const;

  private:
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  ///< By process and GPU.
    RowsByOwner kernels_, memcpys_, memsets_, graphs_;           ///< By those numbers.
};

}  // namespace lanescope
