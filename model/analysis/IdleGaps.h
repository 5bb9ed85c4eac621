// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// All gaps of a run and their causes, by the rules stated at `WorkerTimeline`. Immutable; refers
/// to the trace, which must outlive it. Any thread.
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

    /// Returns the causes of a worker's idle time within `range`, longest first. They sum to the
    /// time of the gaps in it. O(log n + pieces in the range).
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

    /// Returns the call before the one that launched the work after the gap, on its thread;
    /// `noIndex` if unknown. O(calls between them).
    uint32_t callBefore(const IdleGap& gap) const;

  private:
    struct Worker {
        WorkerId id;
        std::vector<TimeRange> steps;
        std::vector<IdleGap> gaps;
        PartTimeline parts;
        std::vector<GapCause> causes;
        std::vector<Likes> likes;  ///< By cause.
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

}  // namespace lanescope::analysis
