// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "model/trace/ThreadTimes.h"

namespace lanescope {

/// For how long a thread can have run at most in the time of a row of `Trace::cpuStates`, as the
/// kernel counted, and a tenth of that time more: where a run of looks begins and ends nobody knows
/// to the nanosecond. O(1).
int64_t mostRunNs(const Trace& trace, uint32_t row);

/// How much of many short pieces of a thread's time it cannot have spent running. Between looks
/// that saw it wait each time it may have run in any one piece, but in all pieces together no
/// longer than the kernel counts. Refers to both. One thread.
class ProvedWaits {
  public:
    ProvedWaits(const Trace& trace, const StatesOfThreads& states)
        : trace_(trace), states_(states) {}

    /// Pieces must not overlap. O(log n) and the rows in it.
    void add(uint32_t thread, TimeRange piece);

    /// Of the pieces within a row that saw the thread wait, how much it waited at least, in ns; 0
    /// of any other row.
    int64_t waitedNs(uint32_t row) const;
    /// Of all pieces, in Poll and Lock: in a wait that may be for something from outside.
    int64_t outsideNs() const;
    /// Of all pieces, for how long the thread had or wanted a core, or waited for a disk, at most;
    /// without the tenth of `mostRunNs`.
    int64_t workedNs() const;

    /// `visit(row, waitedNs)` for each row that pieces lie in.
    template <class Visitor>
    void forEachRow(Visitor visit) const {
        for (const auto& each : spentNs_) visit(each.first, waitedNs(each.first));
    }

  private:
    static bool isOutside(ThreadState state) {
        return state == ThreadState::Poll || state == ThreadState::Lock;
    }

    const Trace& trace_;
    const StatesOfThreads& states_;
    std::map<uint32_t, int64_t> spentNs_;  ///< By row.
};

}  // namespace lanescope
