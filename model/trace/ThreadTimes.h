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

/// Of a thread on a core the kernel counts in ticks, of as much at most.
inline constexpr int64_t countTickNs = 10'000'000;

/// Whether looks saw one state of a thread where it was in several by turns: it waited at each
/// look, but the kernel counts that it also had or wanted a core for more than a tenth of the time,
/// or it ran at each look, but had and wanted none for as long. When in the run it did what is not
/// known then, and a look says nothing of the time between. What the scheduler tells is never
/// mixed. O(1).
inline bool isMixed(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    if (states.source[row] != StateSource::Looks) return false;
    const ThreadState state = states.state[row];
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    const int64_t ranNs = states.cpuNs[row] + states.delayNs[row];
    constexpr int64_t leastRunNs = 1'000'000;
    if (state == ThreadState::Running)
        return ranNs > 0 && wholeNs - ranNs > std::max(wholeNs / 10, countTickNs);
    return isWaiting(state) && ranNs > std::max(wholeNs / 10, leastRunNs);
}

/// "Lock", or "Lock, running" of a mixed run.
inline std::string stateText(ThreadState state, bool isMixed) {
    const std::string seen(nameOf(state).name);
    if (!isMixed) return seen;
    return seen + (state == ThreadState::Running ? ", waiting" : ", running");
}

/// What a thread did within a stretch of time.
struct ThreadTimes {
    /// By state; what is not known of the time stands at `Unknown`.
    std::array<int64_t, threadStateCount> ns{};
    uint32_t stack = noIndex;   ///< At which it stood longest; a row of `Trace::stacks`.
    uint32_t holder = noIndex;  ///< Which thread it waited for longest, to have the GIL.
    uint32_t holderStack = noIndex;
    /// Of `Unknown`: it was seen to run, but as the kernel counts neither ran nor wanted to all of
    /// that time, so it waited between two looks, nobody knows for what.
    int64_t unseenWaitNs = 0;

    /// The same with those waits shared out like the waits that were seen, if more were seen than
    /// not. That is right in the mean of many looks, and says nothing of a single stretch.
    ThreadTimes withUnseenWaits() const;

    int64_t of(ThreadState state) const { return ns[static_cast<size_t>(state)]; }
    int64_t knownNs() const {
        int64_t sum = 0;
        for (const int64_t each : ns) sum += each;
        return sum;
    }
    /// In which it was longest.
    ThreadState most() const {
        return static_cast<ThreadState>(std::ranges::max_element(ns) - ns.begin());
    }
};

/// The states of each thread of a trace: those that looks or the scheduler tell, which do not
/// overlap. Refers to the trace. Any thread.
class StatesOfThreads {
  public:
    /// O(rows).
    explicit StatesOfThreads(const Trace& trace);

    bool isEmpty(uint32_t thread) const { return rows_[thread].empty(); }
    /// Whether it is known how long the thread had a core, or wanted one: not every kernel counts.
    bool isCounted(uint32_t thread) const { return isCounted_[thread]; }
    /// How well a row tells what the thread did in a piece of it.
    enum class Telling : uint8_t {
        Whole,    ///< It did that all the time, but for a tenth at most.
        ByTurns,  ///< It did that by turns with another thing; the piece may be all the other.
        Nothing,  ///< Nobody looked as often, and the kernel did not count.
    };
    /// Of a piece that is as long. Looks tell of the time between them only as far as the kernel
    /// counts what happened there: of a wait of 300 ms in which the thread also ran for 20 ms some
    /// 3 ms may be all run. O(1).
    Telling tells(uint32_t row, int64_t pieceNs) const;
    /// How long the thread was in each state within `range`: on a core, and without one that it
    /// wanted, as the kernel counted, and the rest of the time as it was seen; unknown for pieces
    /// below a second of which no row tells (`tells`). O(log n) and what lies in it.
    ThreadTimes during(uint32_t thread, TimeRange range) const;
    /// `visit(row, piece)` for each state that overlaps `range`, by start.
    template <class Visitor>
    void forEachIn(uint32_t thread, TimeRange range, Visitor visit) const {
        const CpuStateTable& states = trace_.cpuStates;
        const std::vector<uint32_t>& rows = rows_[thread];
        auto at = std::partition_point(rows.begin(), rows.end(), [&](uint32_t row) {
            return states.endNs[row] <= range.startNs;
        });
        for (; at != rows.end() && states.startNs[*at] < range.endNs; ++at) {
            const TimeRange piece{std::max(range.startNs, states.startNs[*at]),
                                  std::min(range.endNs, states.endNs[*at])};
            if (piece.durationNs() > 0) visit(*at, piece);
        }
    }

  private:
    const Trace& trace_;
    std::vector<std::vector<uint32_t>> rows_;  ///< By thread, by start.
    std::vector<bool> isCounted_;              ///< By thread: whether the kernel counted its time.
};

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
