// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/IdleCause.h"
#include "model/analysis/Intervals.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/WorkerTimeline.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// Returns "82 % waits for input, 11 % runs; at data.py:88 in load": a thread's activity. Empty if unknown.
std::string timesText(const Trace& trace, const ThreadTimes& times, int64_t wholeNs);

/// Returns "train.py:88", the line of idle time, or that of its `Contributor::launched`; empty if unknown.
std::string lineOf(const IdleCause& cause, const CodePlace& launched);

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
    void forEachIn(uint32_t thread, TimeRange range, auto sink) {
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
    void forEachWithoutCore(uint32_t thread, TimeRange range, auto sink) {
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
    void forEachWaitForThreads(uint32_t thread, TimeRange range, auto sink) const {
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

/// Returns for each stack if it has a frame of PyTorch's loader. O(stacks).
std::vector<bool> stacksOfLoader(const Trace& trace);

/// The data loading threads of each process: threads of processes that it started, directly or via others of no other
/// rank, named so or seen in PyTorch's loader; else its own threads named so. Immutable; any thread.
class LoaderThreads {
  public:
    /// O(processes, threads, stacks and states of threads).
    explicit LoaderThreads(const Trace& trace);

    /// In their order.
    const std::vector<uint32_t>& of(uint32_t process) const {
        return started_[process].empty() ? own_[process] : started_[process];
    }

  private:
    std::vector<std::vector<uint32_t>> started_, own_;
};

/// Returns the activity of a process's data loaders in its steps, which are in order and do not overlap. `states` and
/// `loaders` are those of the trace. O(loaders * steps * log n) and the states in them.
LoaderTimes loaderTimes(const StatesOfThreads& states, std::span<const uint32_t> loaders,
                        std::span<const TimeRange> steps);

/// Returns the core waits of `threads`, all of one process, in its steps, which are in order and do not overlap. The
/// kernel's count for a time that is only partly in a step is distributed evenly. `states` are those of the trace.
/// Nullopt if no thread was counted in the steps. O(threads, steps, and states * log steps).
std::optional<CoreWaits> coreWaits(const Trace& trace, const StatesOfThreads& states, std::span<const uint32_t> threads,
                                   std::span<const TimeRange> steps);

/// Returns the minimum time, between steps that are requests, for which the next launching thread
/// waited while the GPU had no work, and the place of most of it. `steps` are in order and do not
/// overlap, `work` is sorted by start. O(work + steps * log n) and the states between them.
RestBetween restBetween(const RunContext& run, std::span<const TimeRange> steps, const WorkList& work);

/// Minimum length of idle time in host code that counts as work of the host. A shorter one leads from launch to launch.
inline constexpr int64_t minWorkNs = 500'000;

/// Sets how much of launch-bound time in `windows` the launching thread ran and waited. The kernel's count of its time
/// on a core decides, whatever samples saw. The thread cannot have run longer than that in the launch-bound time
/// between the same samples (`Contributor::waitedNs`). If the count is lower by no more than a tenth of the time
/// between them, it ran all of it, since the end of a run of samples is not known to the nanosecond. A wait for a lock
/// may be a wait for another thread that launches work of this worker; then that thread's time counts, too. Time
/// between calls of at least `minWorkNs` is no launching (`Contributor::workedNs`), also if samples saw the thread
/// alternate. Also sets the estimate `gilNs`, the count of such times, and `launched` of idle time: the place of a
/// thread without a known one, else the caller. `contributors` are those of the timeline, `windows` as for it. O(n log
/// n) in the pieces of launch-bound time.
void addRanAndWaited(const RunContext& run, const WorkerTimeline& timeline, const std::vector<TimeRange>& windows,
                     std::vector<Contributor>& contributors);

}  // namespace lanescope::analysis
