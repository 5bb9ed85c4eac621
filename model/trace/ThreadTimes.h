// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/format/threadStates.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Upper bound of the kernel's tick by which it counts a running thread's time.
inline constexpr int64_t maxTickNs = 10'000'000;

/// Returns true if a row of equal samples hides a second state. Either every sample waited, but the kernel counted more
/// than a tenth of the time as running or runnable. Or every sample ran, but that much time was neither. The times of
/// the second state within the row are unknown. Rows of the scheduler are never mixed. O(1).
inline bool isMixed(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    if (states.source[row] != StateSource::StateSamples) return false;
    const ThreadState state = states.state[row];
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    const int64_t ranNs = states.cpuNs[row] + states.delayNs[row];
    constexpr int64_t minRunNs = 1'000'000;
    if (state == ThreadState::Running) return ranNs > 0 && wholeNs - ranNs > std::max(wholeNs / 10, maxTickNs);
    return isWaiting(state) && ranNs > std::max(wholeNs / 10, minRunNs);
}

/// Returns "Lock", or "Lock, running" for a mixed row.
inline std::string stateText(ThreadState state, bool isMixed) {
    const std::string seen(nameOf(state).name);
    if (!isMixed) return seen;
    return seen + (state == ThreadState::Running ? ", waiting" : ", running");
}

/// Times of a thread by state within an interval.
struct ThreadTimes {
    /// By state; unknown time is in `Unknown`.
    std::array<int64_t, threadStateCount> ns{};
    uint32_t stack = noIndex;   ///< Most frequent stack; a row of `Trace::stacks`.
    uint32_t holder = noIndex;  ///< Thread that held the GIL longest while this one waited for it.
    uint32_t holderStack = noIndex;
    /// Part of `Unknown`: the thread was sampled as running, but the kernel counted less running
    /// and runnable time. It waited between two samples for an unknown reason.
    int64_t unseenWaitNs = 0;

    /// Returns the times with those waits distributed like the sampled waits, if more were sampled
    /// than not. This is right on average over many samples, not for a single interval.
    ThreadTimes withUnseenWaits() const;

    int64_t of(ThreadState state) const { return ns[static_cast<size_t>(state)]; }
    int64_t knownNs() const {
        int64_t sum = 0;
        for (const int64_t each : ns) sum += each;
        return sum;
    }
    ThreadState longest() const { return static_cast<ThreadState>(std::ranges::max_element(ns) - ns.begin()); }
};

/// States of each thread from samples or the scheduler, which do not overlap. Refers to the trace. Any thread.
class StatesOfThreads {
  public:
    /// O(rows).
    explicit StatesOfThreads(const Trace& trace);

    bool isEmpty(uint32_t thread) const { return rows_[thread].empty(); }
    /// Returns true if the thread's running and runnable times are known; not every kernel counts them.
    bool isCounted(uint32_t thread) const { return isCounted_[thread]; }
    /// Precision of a row about a piece of it.
    enum class StatePrecision : uint8_t {
        Whole,        ///< The state applies to at least nine tenths of the piece.
        Alternating,  ///< The state alternates with another one, which may fill the whole piece.
        Nothing,      ///< Too few samples, and no counts of the kernel.
    };
    /// Returns the precision for a piece of that length. Between samples only the kernel's counts are known: in a
    /// sampled wait of 300 ms with 20 ms of running time, a piece of 3 ms may be all running. O(1).
    StatePrecision tells(uint32_t row, int64_t pieceNs) const;
    /// Returns the time of each state within `range`: running and runnable as counted by the kernel, the rest as
    /// sampled. Pieces below a second that no row covers (`tells`) are unknown. O(log n + rows in it).
    ThreadTimes during(uint32_t thread, TimeRange range) const;
    /// Calls `visit(row, piece)` for each state that overlaps `range`, by start.
    void forEachIn(uint32_t thread, TimeRange range, auto visit) const {
        const CpuStateTable& states = trace_.cpuStates;
        const std::vector<uint32_t>& rows = rows_[thread];
        auto at = std::partition_point(rows.begin(), rows.end(),
                                       [&](uint32_t row) { return states.endNs[row] <= range.startNs; });
        for (; at != rows.end() && states.startNs[*at] < range.endNs; ++at) {
            const TimeRange piece{std::max(range.startNs, states.startNs[*at]),
                                  std::min(range.endNs, states.endNs[*at])};
            if (piece.durationNs() > 0) visit(*at, piece);
        }
    }

  private:
    const Trace& trace_;
    std::vector<std::vector<uint32_t>> rows_;  ///< By thread, each sorted by start.
    std::vector<bool> isCounted_;              ///< By thread: true if the kernel counted its time.
};

/// Returns an upper bound of a thread's running time within a row of `Trace::cpuStates`: the
/// kernel's count plus a tenth of the row, because the limits of a sampled run are imprecise. O(1).
int64_t maxRunNs(const Trace& trace, uint32_t row);

/// Lower bound of a thread's waiting time within many short pieces of its time. Between samples
/// that all saw it wait it may have run in any single piece, but in all pieces together no longer
/// than the kernel counted. Refers to trace and states. One thread.
class ProvenWaits {
  public:
    ProvenWaits(const Trace& trace, const StatesOfThreads& states) : trace_(trace), states_(states) {}

    /// Adds a piece; pieces must not overlap. O(log n + rows in it).
    void add(uint32_t thread, TimeRange piece);

    /// Returns the minimum wait in ns of the pieces within a row of a waiting state; 0 for other rows.
    int64_t waitedNs(uint32_t row) const;
    /// Returns the wait of all pieces in Poll and Lock, which may depend on other processes.
    int64_t outsideNs() const;
    /// Returns the maximum time of all pieces in which the thread was on a core, was runnable or
    /// waited for a disk; without the tenth of `maxRunNs`.
    int64_t workedNs() const;

    /// Calls `visit(row, waitedNs)` for each row that contains pieces.
    void forEachRow(auto visit) const {
        for (const auto& each : spentNs_) visit(each.first, waitedNs(each.first));
    }

  private:
    static bool isOutside(ThreadState state) { return state == ThreadState::Poll || state == ThreadState::Lock; }

    const Trace& trace_;
    const StatesOfThreads& states_;
    std::map<uint32_t, int64_t> spentNs_;  ///< By row.
};

}  // namespace lanescope
