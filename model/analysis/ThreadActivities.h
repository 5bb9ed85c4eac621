// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/analysis/IdleCause.h"
#include "model/analysis/Intervals.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// Returns "82 % waits for input, 11 % runs; at data.py:88 in load": a thread's activity. Empty if unknown.
std::string timesText(const Trace& trace, const ThreadTimes& times, int64_t wholeNs);

/// Returns the ends of the names of Python files in whose functions a thread compiles code.
std::vector<std::string_view> compilerFiles();

/// Activities of threads in host code while a GPU was idle, numbered. Refers to the trace and its states. One thread.
class ThreadActivities {
  public:
    /// `states` are those of the trace.
    ThreadActivities(const Trace& trace, const StatesOfThreads& states) : trace_(trace), states_(states) {}

    /// Number of an activity, equal for equal ones.
    using Id = uint32_t;
    static constexpr Id unknown = 0;
    /// Returns an activity; nothing is known for `unknown`. Valid until the next call of another function.
    const ThreadActivity& at(Id id) const { return activities_[id]; }

    /// Calls `sink(piece, id)` for all of `range`, by start. A statement about a whole row is not
    /// made about a piece of it that may differ (`StatesOfThreads::tells`).
    template <class Sink>
    void forEachIn(uint32_t thread, TimeRange range, Sink sink) {
        int64_t fromNs = range.startNs;
        const auto unknownUntil = [&](int64_t untilNs) {
            if (untilNs > fromNs) sink(TimeRange{fromNs, untilNs}, unknown);
        };
        states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
            unknownUntil(piece.startNs);
            sink(piece, idOf(row, states_.tells(row, piece.durationNs())));
            fromNs = piece.endNs;
        });
        unknownUntil(range.endNs);
    }

    /// Calls `sink(piece, id)` for each time in `range` in which the thread lacked a core, all or most of the time.
    template <class Sink>
    void forEachWithoutCore(uint32_t thread, TimeRange range, Sink sink) {
        states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
            if (coreIn(row) == Core::Given) return;
            const Id id = idOf(row, states_.tells(row, piece.durationNs()));
            if (id != unknown) sink(piece, id);
        });
    }

    /// Returns the place and activity seen in the samples of a row, whatever happened between them.
    const ThreadActivity& seenIn(uint32_t row) { return at(idOf(row, StatePrecision::Whole)); }

    /// Returns the times in `range` at which the thread was not seen to wait for a possible source of data: input, a
    /// disk, a lock or another process. Empty for a thread without any known state. Includes short pieces between
    /// distant samples, since the result is used to claim less.
    Intervals notAwaitingData(uint32_t thread, TimeRange range) const;

    /// Calls `sink(piece, since, until)` for each time in `range` in which the thread waited
    /// throughout to be woken by another, with start and end of that wait.
    template <class Sink>
    void forEachWaitForThreads(uint32_t thread, TimeRange range, Sink sink) const {
        states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
            const ThreadState state = trace_.cpuStates.state[row];
            if (state != ThreadState::Lock && state != ThreadState::Gil) return;
            if (states_.tells(row, piece.durationNs()) != StatePrecision::Whole) return;
            sink(piece, trace_.cpuStates.startNs[row], trace_.cpuStates.endNs[row]);
        });
    }

  private:
    using StatePrecision = StatesOfThreads::StatePrecision;
    /// Availability of a core to a thread that wanted one.
    enum class Core : uint8_t {
        Given,
        Alternating,  ///< It also ran; the kernel counts for how long.
        None,
    };
    Core coreIn(uint32_t row) const;
    Id idOf(uint32_t row, StatePrecision precision);
    ThreadActivity made(uint32_t row, StatePrecision precision) const;

    /// State, its certainty, core, stack, holder and the holder's stack.
    using Key = std::tuple<ThreadState, StatePrecision, Core, uint32_t, uint32_t, uint32_t>;
    const Trace& trace_;
    const StatesOfThreads& states_;
    std::map<Key, Id> known_;
    std::map<ThreadActivity, Id> ids_;
    std::vector<ThreadActivity> activities_{{}};
};

}  // namespace lanescope::analysis
