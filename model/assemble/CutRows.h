// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The rows that a trace contributes when only a part of it is merged into another trace: some
/// processes, each within a time window. Refers to the trace. One thread.
class WindowedRows {
  public:
    /// `windows` contains the merged time of each process on the clock of the whole. It is empty for a skipped process.
    WindowedRows(const Trace& part, const ClockMap& clock, std::vector<TimeRange> windows);

    TimeRange window() const { return whole_; }
    bool isTaken(uint32_t process) const { return process < windows_.size() && !windows_[process].isEmpty(); }
    /// Returns true if a merged process uses the GPU.
    bool isGpuTaken(uint32_t gpu) const { return gpus_.contains(gpu); }

    /// Returns the rows of events with a stream or a process that overlap its window. GPU work and
    /// calls are never truncated. GPU work that was launched outside of the window is skipped, as
    /// in a recording of limited time. O(n log n).
    template <class Table>
    std::vector<uint32_t> of(const Table& table) const;
    /// Also returns the calls outside of the window that launched work inside it. The launch
    /// decides which process owns the work and where a GPU step begins. O(n log n).
    std::vector<uint32_t> of(const ApiTable& table) const;
    /// Returns the ranges inside the window and those that contain it, which are to be clipped to
    /// it. Other ranges are skipped, since a clipped piece would look like a shorter range.
    std::vector<uint32_t> of(const NvtxTable& table) const;
    /// Returns all nodes of merged processes, since nodes of graphs have no time of their own.
    std::vector<uint32_t> of(const GraphNodeTable& table) const;
    /// Also returns the earlier allocations that are still live in the window.
    std::vector<uint32_t> of(const MemoryEventTable& table) const;
    /// Also returns the last size of each pool before the window.
    std::vector<uint32_t> of(const MemoryPoolTable& table) const;
    /// Returns the rows whose memcpy is merged. `memcpys` maps each row to its new row, or to `noIndex`.
    static std::vector<uint32_t> of(const MigrationTable& table, const std::vector<uint32_t>& memcpys);
    /// Returns true if the call of a process with this correlation is merged.
    bool isCallTaken(uint32_t process, uint32_t correlation) const;

  private:
    template <class Table>
    uint32_t processOf(const Table& table, uint32_t row) const;
    /// Returns the time of a row on the clock of the whole.
    template <class Table>
    TimeRange timesOf(const Table& table, uint32_t row) const;
    template <class Table>
    bool isInWindow(const Table& table, uint32_t row, uint32_t process) const {
        const TimeRange times = timesOf(table, row);
        return times.startNs < windows_[process].endNs && times.endNs >= windows_[process].startNs;
    }
    /// Adds the calls that launched the merged rows of a table of GPU work.
    template <class Table>
    void takeLaunchesOf(const Table& table, EventKind kind, std::vector<uint32_t>& calls) const;

    const Trace& part_;
    const ClockMap clock_;
    std::vector<TimeRange> windows_;
    TimeRange whole_;
    std::unordered_set<uint32_t> gpus_;
    std::unordered_set<uint64_t> calls_;  ///< Process and correlation.
};

template <class Table>
uint32_t WindowedRows::processOf(const Table& table, uint32_t row) const {
    if constexpr (requires { table.process; }) {
        return table.process[row];
    } else if constexpr (requires { table.thread; }) {
        const uint32_t thread = table.thread[row];
        return thread < part_.threads.size() ? part_.threads[thread].process : noIndex;
    } else {
        const uint32_t stream = table.stream[row];
        return stream < part_.streams.size() ? part_.streams[stream].process : noIndex;
    }
}

template <class Table>
TimeRange WindowedRows::timesOf(const Table& table, uint32_t row) const {
    if constexpr (requires { table.timeNs; })
        return clock_.at(TimeRange{table.timeNs[row], table.timeNs[row]});
    else
        return clock_.at(TimeRange{table.startNs[row], table.endNs[row]});
}

template <class Table>
std::vector<uint32_t> WindowedRows::of(const Table& table) const {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t process = processOf(table, row);
        if (isTaken(process) && isInWindow(table, row, process)) rows.push_back(row);
    }
    return rows;
}

}  // namespace lanescope
