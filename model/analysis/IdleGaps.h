// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/WorkerTimeline.h"
#include "model/trace/ThreadTimes.h"

namespace lanescope::analysis {

/// A time in which a worker's GPU ran nothing, between two pieces of work.
struct IdleGap {
    TimeRange range;
    EventRef before;          ///< The work that ended last before it.
    EventRef next;            ///< The work that ended it.
    uint32_t call = noIndex;  ///< Row of `ApiTable` that launched `next`.
};

/// Why a GPU was idle, and for how long: a part of the step, what the CPU did, and where.
struct IdleCause {
    StepPart part = StepPart::OtherIdle;
    std::string name;  ///< "outside CUDA calls on the main thread"; as `Contributor::name`.
    std::string path;  ///< NVTX ranges, outermost first; as `Contributor::path`.
    int64_t ns = 0;
    bool operator==(const IdleCause&) const = default;
};

/// All gaps of a run and why they are, by the rules that `WorkerTimeline` states. Immutable; refers
/// to the trace for its lookups, which must outlive it. Any thread.
class IdleGaps {
  public:
    /// Told how far it has come, in [0, 1]; returns false to cancel.
    using Progress = SummaryProgress;
    /// Fails as `findSteps` does, or if cancelled. O(n log n) in the events.
    static Result<IdleGaps> of(const Trace& trace, const StepSelection& selection = {},
                               const Progress& progress = {});

    size_t workerCount() const { return workers_.size(); }
    uint32_t processOf(size_t worker) const { return workers_[worker].id.process; }
    uint32_t gpuOf(size_t worker) const { return workers_[worker].id.gpu; }
    /// Of a worker, by start.
    const std::vector<IdleGap>& gapsOf(size_t worker) const { return workers_[worker].gaps; }

    /// What a worker did from its first to its last work.
    const PartTimeline& partsOf(size_t worker) const { return workers_[worker].parts; }

    /// A gap by its worker and its place among those of the worker.
    struct Place {
        size_t worker = 0;
        size_t gap = 0;
        bool operator==(const Place&) const = default;
    };
    const IdleGap& at(Place place) const { return workers_[place.worker].gaps[place.gap]; }
    /// The gap of a GPU at this time; nothing while any process works on it, and before the first
    /// and after the last work. Of several processes, that which ends first. O(workers log gaps).
    std::optional<Place> find(uint32_t gpu, int64_t timeNs) const;

    /// Why the GPU of a worker was idle within `range`: causes, longest first, that sum to the time
    /// of the gaps in it. O(log n) and what lies in it.
    std::vector<IdleCause> whyIdle(size_t worker, TimeRange range) const;

    /// What threads did while the GPU was idle: the one that it waited for, and those that load
    /// data for it, which are at most `mostLoaders`, those that ran longest first. Only threads of
    /// which it is known.
    struct ThreadInGap {
        uint32_t thread = noIndex;
        bool isAwaited = false;
        ThreadTimes times;
    };
    static constexpr size_t mostLoaders = 8;
    std::vector<ThreadInGap> threadsDuring(const IdleGap& gap) const;

    /// How often the main cause of a gap is that of others, and how long these take, of a worker.
    struct Likes {
        int64_t count = 0;
        int64_t ns = 0;
    };
    Likes likesOf(Place place) const;

    /// Gaps within the steps of all workers, longest first; at most `mostRanked`.
    const std::vector<Place>& longest() const { return longest_; }
    static constexpr size_t mostRanked = 1000;

    /// The call before the one that launched what ended the gap, on its thread; `noIndex` if none
    /// is known. O(calls between them).
    uint32_t callBefore(const IdleGap& gap) const;

  private:
    struct Worker {
        WorkerId id;
        std::vector<TimeRange> steps;
        std::vector<IdleGap> gaps;
        PartTimeline parts;
        std::vector<IdleCause> causes;
        std::vector<Likes> likes;  ///< By cause.
    };

    explicit IdleGaps(const Trace& trace);
    static Worker madeOf(const RunWorkers& run, const WorkerSteps& worker);
    static uint32_t mainCause(const Worker& worker, TimeRange gap);
    void rank();

    const Trace* trace_;
    std::vector<Worker> workers_;
    StatesOfThreads states_;
    std::vector<uint32_t> loaders_;  ///< Threads that may load data.
    std::vector<Place> longest_;
};

}  // namespace lanescope::analysis
