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

/// Which rows of a trace are taken where it becomes a part of another one only in part: those of
/// some of its processes, and of these what happened in some time. Refers to the trace. One thread.
class CutRows {
  public:
    /// `windows`: by process, the time of it that is taken, by the clock of the whole; empty where
    /// the process is left out.
    CutRows(const Trace& part, const ClockMap& clock, std::vector<TimeRange> windows);

    /// The time of all processes together.
    TimeRange window() const { return whole_; }
    bool isTaken(uint32_t process) const {
        return process < windows_.size() && !windows_[process].isEmpty();
    }
    /// Whether a process that is taken works on the GPU.
    bool isGpuTaken(uint32_t gpu) const { return gpus_.contains(gpu); }

    /// Rows of events that have a stream or a process: that overlap its window. What runs on GPUs
    /// and what is called is taken whole, but no work of a GPU that was launched before or after
    /// the window, as where a program is recorded for some time only. O(n log n).
    template <class Table>
    std::vector<uint32_t> of(const Table& table) const;
    /// Also the calls before the window, or behind it, that launched what runs in it: whose work
    /// that is, and where a step of a GPU begins, is told by when it was launched. O(n log n).
    std::vector<uint32_t> of(const ApiTable& table) const;
    /// Ranges that lie in the window, and those that it lies in, which are to be cut down to it; of
    /// others a piece would look like the whole of a shorter one.
    std::vector<uint32_t> of(const NvtxTable& table) const;
    /// What a graph is made of has no time of its own.
    std::vector<uint32_t> of(const GraphNodeTable& table) const;
    /// Also the allocations before the window that are still there in it.
    std::vector<uint32_t> of(const MemoryEventTable& table) const;
    /// Also the last size of each pool before the window.
    std::vector<uint32_t> of(const MemoryPoolTable& table) const;
    /// Those of memcpys that are taken; `memcpys`: by row, what it became, `noIndex` if nothing.
    static std::vector<uint32_t> of(const MigrationTable& table,
                                    const std::vector<uint32_t>& memcpys);
    /// Whether the call of a process that has this correlation is taken.
    bool isCallTaken(uint32_t process, uint32_t correlation) const;

  private:
    template <class Table>
    uint32_t processOf(const Table& table, uint32_t row) const;
    /// Its time by the clock of the whole.
    template <class Table>
    TimeRange timesOf(const Table& table, uint32_t row) const;
    template <class Table>
    bool isInWindow(const Table& table, uint32_t row, uint32_t process) const {
        const TimeRange times = timesOf(table, row);
        return times.startNs < windows_[process].endNs && times.endNs >= windows_[process].startNs;
    }
    /// Notes the calls that launched what is taken of a table of GPU work.
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
uint32_t CutRows::processOf(const Table& table, uint32_t row) const {
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
TimeRange CutRows::timesOf(const Table& table, uint32_t row) const {
    if constexpr (requires { table.timeNs; })
        return clock_.at(TimeRange{table.timeNs[row], table.timeNs[row]});
    else
        return clock_.at(TimeRange{table.startNs[row], table.endNs[row]});
}

template <class Table>
std::vector<uint32_t> CutRows::of(const Table& table) const {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t process = processOf(table, row);
        if (isTaken(process) && isInWindow(table, row, process)) rows.push_back(row);
    }
    return rows;
}

}  // namespace lanescope
