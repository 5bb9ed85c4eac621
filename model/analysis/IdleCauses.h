// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/IdleCause.h"
#include "model/analysis/Intervals.h"
#include "model/analysis/ThreadActivities.h"
#include "model/analysis/WorkerTimeline.h"
#include "model/trace/ThreadTimes.h"

namespace lanescope::analysis {

/// An interval between two pieces of work in which a worker's GPU ran nothing.
struct IdleGap {
    TimeRange range;
    EventRef before;          ///< The work that ended last before it.
    EventRef next;            ///< The work that ended it.
    uint32_t call = noIndex;  ///< Row of `ApiTable` that launched `next`.
};

/// Cause and duration of a GPU's idle time: part of the step, activity of the CPU, and place.
struct GapCause {
    StepPart part = StepPart::OtherIdle;
    ContributorName name;
    std::string path;  ///< NVTX ranges, outermost first; as `Contributor::path`.
    int64_t ns = 0;
    bool operator==(const GapCause&) const = default;
};

/// All gaps of a run and their causes, by the rules stated at `WorkerTimeline`. Immutable; refers to the trace.
class IdleGaps {
  public:
    /// Receives the progress in [0, 1]; returns false to cancel.
    using Progress = SummaryProgress;
    /// Fails as `findSteps` does, or if cancelled. O(n log n) in the events.
    static Result<IdleGaps> of(const Trace& trace, const StepSelection& selection = {}, const Progress& progress = {});

    size_t workerCount() const { return workers_.size(); }
    uint32_t processOf(size_t worker) const { return workers_[worker].id.process; }
    uint32_t gpuOf(size_t worker) const { return workers_[worker].id.gpu; }
    /// Returns the gaps of a worker, by start.
    const std::vector<IdleGap>& gapsOf(size_t worker) const { return workers_[worker].gaps; }

    /// Returns the activity of a worker from its first to its last work.
    const PartTimeline& partsOf(size_t worker) const { return workers_[worker].parts; }

    /// A gap, by its worker and its index among the worker's gaps.
    struct Place {
        size_t worker = 0;
        size_t gap = 0;
        bool operator==(const Place&) const = default;
    };
    const IdleGap& at(Place place) const { return workers_[place.worker].gaps[place.gap]; }
    /// Returns the gap of a GPU at this time. Returns nullopt while any process works on the GPU, and before the first
    /// and after the last work. With several processes: the gap that ends first. O(workers log gaps).
    std::optional<Place> find(uint32_t gpu, int64_t timeNs) const;

    /// Returns the causes of a worker's idle time in `range`, longest first; they sum to its gaps. O(log n + pieces).
    std::vector<GapCause> whyIdle(size_t worker, TimeRange range) const;

    /// Activity of a thread while the GPU was idle: the awaited thread, and at most `maxLoaders`
    /// data loading threads, those that ran longest first. Only threads with known states.
    struct ThreadInGap {
        uint32_t thread = noIndex;
        bool isAwaited = false;
        ThreadTimes times;
    };
    static constexpr size_t maxLoaders = 8;
    std::vector<ThreadInGap> threadsDuring(const IdleGap& gap) const;

    /// Number and total duration of a worker's gaps with the same main cause.
    struct Likes {
        int64_t count = 0;
        int64_t ns = 0;
    };
    Likes likesOf(Place place) const;

    /// Returns the longest gaps within the steps of all workers, at most `maxRankedGaps`.
    const std::vector<Place>& longest() const { return longest_; }
    static constexpr size_t maxRankedGaps = 1000;

    /// Returns the gaps of a worker that overlap `range`, longest first, at most `maxRankedGaps`. O(n log n) in them.
    std::vector<Place> longestIn(size_t worker, TimeRange range) const;

    /// Returns the CUDA call before that which launched the work after the gap, or `noIndex`. O(calls between them).
    uint32_t callBefore(const IdleGap& gap) const;

  private:
    struct Worker {
        WorkerId id;
        std::vector<TimeRange> steps;
        std::vector<IdleGap> gaps;
        PartTimeline parts = {};
        std::vector<GapCause> causes = {};
        std::vector<Likes> likes = {};  ///< By cause.
    };

    explicit IdleGaps(const Trace& trace);
    static Worker madeOf(const RunWorkers& run, const WorkerSteps& worker);
    static uint32_t mainCause(const Worker& worker, TimeRange gap);
    void rank();
    /// Keeps the longest, sorted by length.
    void keepLongest(std::vector<Place>& places) const;

    const Trace* trace_;
    std::vector<Worker> workers_;
    StatesOfThreads states_;
    std::vector<uint32_t> loaders_;  ///< Threads that may load data.
    std::vector<Place> longest_;
};

/// Finds the causes of a worker's idle time, as stated at `WorkerTimeline`. Claims overlap; the order of parts decides.
class IdleCauses {
  public:
    /// `work` is sorted by start. Time from `sinceNs` to the first work also has a cause, unless a step begins in it.
    /// O(n log n) in the work and the calls of its threads.
    IdleCauses(const RunContext& run, const WorkerSteps& steps, const WorkList& work, ContributorTable& contributors,
               int64_t sinceNs);

    /// Returns the claims of an idle part; labels are contributors. Empty for parts with GPU work.
    Intervals claims(StepPart part);
    /// Returns the cause of time before the first and after the last work.
    ContributorTable::Id unknownCause();

  private:
    /// Returns true if the launches of the worker cannot be compared with its work.
    bool isClockInconsistent() const { return trace_.gpus[worker_.gpu].isClockInconsistent; }
    /// Returns a cause that states only that none was recorded.
    ContributorTable::Id unknown(CauseKind kind, RangePaths::Id path);
    /// An interval without work, and the work that ended it.
    struct Gap {
        TimeRange range;
        uint32_t next = 0;                ///< Number of that work.
        uint32_t call = noIndex;          ///< Its launching call.
        RangePaths::Id path = 0;          ///< Path of the call.
        ContributorTable::Id before = 0;  ///< Contributor of the work that ended last.
        bool isWithinGraph = false;       ///< One call launched the work before and after.

        static constexpr size_t fieldCount = 7;
        std::array<int64_t, fieldCount> fields() const {
            return {range.startNs, range.durationNs(), next, call, path, before, isWithinGraph ? 1 : 0};
        }
        static Gap fromFields(const std::array<int64_t, fieldCount>& values) {
            const auto number = [&values](size_t field) { return static_cast<uint32_t>(values[field]); };
            return {{values[0], values[0] + values[1]}, number(2), number(3), number(4), number(5), values[6] != 0};
        }
    };
    /// Calls `sink(gap)` for each gap in order.
    void forEachGap(auto sink) const {
        for (PackedList<Gap>::Reader gap(gaps_); !gap.isAtEnd(); gap.next()) sink(*gap);
    }
    /// Time by which a thread would be earlier without its waits for the GPU in a step, less the part used by gaps.
    struct Lead {
        int64_t sinceNs = INT64_MIN;  ///< Start of the step.
        int64_t ns = 0;
        size_t next = 0;  ///< First of its calls not yet visited.
    };
    void findGaps(const WorkList& work, int64_t sinceNs);
    void findThreads(const WorkList& work);
    /// Finds calls that should return at once, but block because the copied memory is not pinned.
    void findPageableCalls(const WorkList& work);
    void findBatchCopies(const WorkerSteps& steps, const WorkList& work);
    /// Finds the times of captures, and of the instantiation of their graphs.
    void findCaptures();
    bool isLate(const Gap& gap) const;
    uint32_t awaitedThread(const Gap& gap) const;
    /// Returns the times in a gap at which the awaited thread is not getting the data of its copy:
    /// - in ranges that do not contain the call;
    /// - in waits for a thread that launches;
    /// - if its states are known, not seen to wait for a possible source of data.
    ///
    /// The gap must be late.
    Intervals timeElsewhere(const Gap& gap) const;
    /// Returns the gaps that the CPU did not cause, since the next work was launched in time.
    Intervals queuedGaps() const;
    /// Returns the times at which the thread waits for another launching thread of its process; labels are these.
    Intervals waitsForLaunches(uint32_t thread, TimeRange range) const;
    Intervals dataLoading();
    Intervals synchronization();
    CallClass classOf(StringIndex call);
    bool isWait(const LabelledInterval& call) { return classOf(call.label) == CallClass::Synchronization; }
    /// Returns the call at that time that waits for the GPU; nullopt if there is no such call.
    std::optional<LabelledInterval> waitAt(uint32_t thread, int64_t timeNs);
    /// Returns the key of time in a wait, or after one that began with the end of `before`: the call and its line.
    uint32_t waitKey(const LabelledInterval& call, uint32_t thread, ContributorTable::Id before);
    uint32_t stackOf(uint32_t thread, const LabelledInterval& call) const;
    /// Adds gaps that begin while the awaited thread waits for the GPU, from the end of that wait on.
    void addAfterWaits(Intervals& claims);
    /// Returns the thread's own time: outside calls with a cause of their own, not seen waiting or without a core.
    Intervals ownTime(uint32_t thread, TimeRange range, uint32_t label);
    Intervals launchBound();
    Intervals queued();
    enum class Detail : uint8_t { Calls, CallsAndStates };
    void addLate(uint32_t thread, Intervals gaps, Detail detail, Intervals& claims);
    /// Adds the pieces of a thread's time outside calls as contributors of data loading, each with its activity.
    void addLoading(uint32_t thread, TimeRange range, const IdleCause& cause, RangePaths::Id path, Intervals& claims);
    void addByPath(StepPart part, uint32_t thread, Intervals pieces, Intervals& claims);
    /// Returns the number of a cause; equal for equal ones.
    uint32_t keyOf(const IdleCause& cause);
    /// Returns the number of the cause `key` with the activity of its thread.
    uint32_t keyWith(uint32_t key, ThreadActivities::Id activity);
    ContributorTable::Id contributor(StepPart part, uint32_t key, RangePaths::Id path);

    Intervals noIntervals() const { return Intervals(trace_.memory.get()); }

    const RunContext& run_;
    const Trace& trace_;
    WorkerId worker_;
    ContributorTable& contributors_;
    std::set<uint32_t> threads_;  ///< The launching threads and the step thread.
    /// By thread, each sorted by start. Empty if no thread has states, which are needed to see a wait for them.
    std::map<uint32_t, std::vector<TimeRange>> launches_;
    PackedList<Gap> gaps_;
    std::vector<int64_t> stepStartsNs_;
    std::set<uint32_t> batchCopies_;  ///< Numbers of work.
    ThreadActivities activities_;
    std::map<IdleCause, uint32_t> keys_;
    std::vector<IdleCause> causes_;         ///< By key.
    std::vector<ContributorTrait> traits_;  ///< By key.
    std::unordered_map<StringIndex, CallClass> callClasses_;
    std::map<std::pair<uint32_t, ThreadActivities::Id>, uint32_t> keysWith_;
    /// By call, thread, the work before and the frame.
    std::map<std::tuple<StringIndex, uint32_t, ContributorTable::Id, uint32_t>, uint32_t> waitKeys_;
    std::map<uint32_t, Intervals> pageableCalls_;  ///< By thread; labels are names of calls.
    std::map<uint32_t, Intervals> captures_;       ///< By thread; labels are keys of causes.
};

}  // namespace lanescope::analysis
