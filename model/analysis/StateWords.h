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

/// "on the main thread": thread ids differ from run to run, names do not.
std::string onThread(const Trace& trace, uint32_t thread);
/// "thread pt_autograd_0", "main thread", "another thread".
std::string threadText(const Trace& trace, uint32_t thread);

/// "82 % waits for input, 11 % runs; at data.py:88 in load": what a thread did of `wholeNs`, the
/// longest first. Empty if nothing is known.
std::string timesText(const Trace& trace, const ThreadTimes& times, int64_t wholeNs);

/// The state that the name of a cause tells, which `StateWords` gave it: "waits for input" of
/// "outside CUDA calls at data.py:88 in load, which waits for input". Nothing where none is known,
/// or not one alone: of who by turns ran and waited.
std::optional<ThreadState> stateTold(std::string_view name);

/// Whether the name of a cause tells that the thread by turns ran and waited, so that which of both
/// it did while the GPU had nothing to do is not known. Not if it waited for another thread, which
/// may have launched work meanwhile, as that of autograd does.
bool isByTurns(std::string_view name);

/// The same, whatever it waited for.
bool runsAndWaits(std::string_view name);

/// Whether the name of a cause tells that looks saw the thread run or want to, whether it then ran
/// all the time or by turns.
bool wasSeenToRun(std::string_view name);

/// Whether the name of a cause tells that the thread wanted a core for most of the time and had
/// none, but also ran.
bool isStarvedByTurns(std::string_view name);

/// The name of a cause without what the thread did there: "outside CUDA calls at data.py:88 in
/// load".
std::string_view withoutState(std::string_view name);

/// Says what threads did while a GPU had nothing to do, in words that are the same in another run.
/// Refers to both. One thread.
class StateWords {
  public:
    /// `states` are those of the trace.
    StateWords(const Trace& trace, const StatesOfThreads& states)
        : trace_(trace), states_(states) {}

    /// `sink(piece, words)` for all of `range`, by start: " at data.py:88 in load, which waits for
    /// input", or nothing where it is not known what the thread did. What holds for a row as a
    /// whole is not said of a piece that may be otherwise (`StatesOfThreads::tells`).
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

    /// `sink(piece, words)` for each time in `range` in which the thread wanted a core and had
    /// none, all the time or for most of it; the words are those of `forEachIn`.
    template <class Sink>
    void forEachWithoutCore(uint32_t thread, TimeRange range, Sink sink) {
        states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
            if (coreIn(row) == Core::Given) return;
            const std::string_view words = wordsOf(row, states_.tells(row, piece.durationNs()));
            if (!words.empty()) sink(piece, words);
        });
    }

    /// Where the looks of a row saw the thread and what it did, whatever it did between them.
    std::string_view seenIn(uint32_t row) { return wordsOf(row, Telling::Whole); }

    /// When in `range` the thread was not seen to wait for what may bring data: for input, a disk,
    /// a lock or another process. Nothing of a thread of which nothing is known at all. Also where
    /// looks are too far apart to say so of a short piece, since this is asked to claim less.
    Stretches notAwaitingData(uint32_t thread, TimeRange range) const;

    /// `sink(piece, since, until)` for each time in `range` in which the thread all the time waited
    /// to be woken by another, and when that wait began and ended.
    template <class Sink>
    void forEachWaitForThreads(uint32_t thread, TimeRange range, Sink sink) const {
        states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
            const ThreadState state = trace_.cpuStates.state[row];
            if (state != ThreadState::Lock && state != ThreadState::Gil) return;
            if (states_.tells(row, piece.durationNs()) != Telling::Whole) return;
            sink(piece, trace_.cpuStates.startNs[row], trace_.cpuStates.endNs[row]);
        });
    }

  private:
    using Telling = StatesOfThreads::Telling;
    /// Whether the thread had a core when it wanted one.
    enum class Core : uint8_t {
        Given,
        ByTurns,  ///< It ran, too: the kernel counts how long.
        None,
    };
    Core coreIn(uint32_t row) const;
    std::string_view wordsOf(uint32_t row, Telling telling);
    std::string made(uint32_t row, Telling telling) const;
    /// " that the thread logger has"; nothing if nobody is known to have what it waits for.
    std::string holderText(uint32_t row) const;

    /// State, how well it is known, whether it got a core, stack, holder and its stack.
    using Key = std::tuple<ThreadState, Telling, Core, uint32_t, uint32_t, uint32_t>;
    const Trace& trace_;
    const StatesOfThreads& states_;
    std::map<Key, std::string> known_;
};

}  // namespace lanescope::analysis
