// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/numbers/intervals.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// Returns "on the main thread". Thread ids differ from run to run, names do not.
std::string onThread(const Trace& trace, uint32_t thread);
/// Returns "thread pt_autograd_0", "main thread" or "another thread".
std::string threadText(const Trace& trace, uint32_t thread);

/// Returns "82 % waits for input, 11 % runs; at data.py:88 in load": the activity of a thread in
/// `wholeNs`, longest first. Empty if nothing is known.
std::string timesText(const Trace& trace, const ThreadTimes& times, int64_t wholeNs);

/// Returns the state in the name of a cause made by `StateWords`: "waits for input" in "outside
/// CUDA calls at data.py:88 in load, which waits for input". Returns nullopt if the state is
/// unknown or if the thread alternately ran and waited.
std::optional<ThreadState> stateInName(std::string_view name);

/// Returns true if, by the name of a cause, the thread alternately ran and waited, so that its
/// state while the GPU was idle is unknown. False if it waited for another thread, which may have
/// launched work meanwhile, as that of autograd does.
bool runsAndWaitsAlternately(std::string_view name);

/// Returns true for the same, whatever the thread waited for.
bool runsAndWaits(std::string_view name);

/// Returns true if, by the name of a cause, samples saw the thread running or runnable, all the
/// time or alternately.
bool isSeenRunning(std::string_view name);

/// Returns true if, by the name of a cause, the thread was runnable without a core most of the
/// time, but also ran.
bool isMostlyWithoutCore(std::string_view name);

/// Returns the name of a cause without the thread's activity: "outside CUDA calls at data.py:88 in
/// load".
std::string_view nameWithoutState(std::string_view name);

/// Describes the activity of threads while a GPU was idle, in words that are equal in another run.
/// Refers to both. One thread.
class StateWords {
  public:
    /// `states` are those of the trace.
    StateWords(const Trace& trace, const StatesOfThreads& states)
        : trace_(trace), states_(states) {}

    /// Calls `sink(piece, words)` for all of `range`, by start. The words are " at data.py:88 in
    /// load, which waits for input", or empty if the activity is unknown. A statement about a whole
    /// row is not made about a piece of it that may differ (`StatesOfThreads::tells`).
    template <class Sink>
    void forEachIn(uint32_t thread, TimeRange range, Sink sink) {
        int64_t fromNs = range.startNs;
        const auto unknownUntil = [&](int64_t untilNs) {
            if (untilNs > fromNs) sink(TimeRange{fromNs, untilNs}, std::string_view());
        };
        states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
            unknownUntil(piece.startNs);
            sink(piece, wordsOf(row, states_.tells(row, piece.durationNs())));
            fromNs = piece.endNs;
        });
        unknownUntil(range.endNs);
    }

    /// Calls `sink(piece, words)` for each time in `range` in which the thread was runnable without
    /// a core, all or most of the time; the words are those of `forEachIn`.
    template <class Sink>
    void forEachWithoutCore(uint32_t thread, TimeRange range, Sink sink) {
        states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
            if (coreIn(row) == Core::Given) return;
            const std::string_view words = wordsOf(row, states_.tells(row, piece.durationNs()));
            if (!words.empty()) sink(piece, words);
        });
    }

    /// Describes the place and activity seen in the samples of a row, whatever happened between
    /// them.
    std::string_view seenIn(uint32_t row) { return wordsOf(row, StatePrecision::Whole); }

    /// Returns the times in `range` at which the thread was not seen to wait for a possible source
    /// of data: input, a disk, a lock or another process. Empty for a thread without any known
    /// state. Includes short pieces between distant samples, since the result is used to claim
    /// less.
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
    std::string_view wordsOf(uint32_t row, StatePrecision telling);
    std::string made(uint32_t row, StatePrecision telling) const;
    /// Returns " that the thread logger has"; empty if the holder of the awaited resource is
    /// unknown.
    std::string holderText(uint32_t row) const;

    /// State, its certainty, core, stack, holder and the holder's stack.
    using Key = std::tuple<ThreadState, StatePrecision, Core, uint32_t, uint32_t, uint32_t>;
    const Trace& trace_;
    const StatesOfThreads& states_;
    std::map<Key, std::string> known_;
};

}  // namespace lanescope::analysis
