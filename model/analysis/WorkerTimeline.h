// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/Intervals.h"
#include "model/analysis/StepParts.h"
#include "model/analysis/StepSelection.h"
#include "model/format/Result.h"

namespace lanescope::analysis {

/// Activity of one worker over time: for each part the intervals that claim time for it. Made once, then queried for
/// any windows. Immutable; O(n log n) in the events of the run.
///
/// GPU work claims its time. If several pieces of one part overlap, the first to start claims it. A collective that
/// waits for other ranks does no work yet, so all other work takes precedence. Where no work runs, waiting or not, the
/// GPU waits for its next work. The thread that launched that work is the awaited one. The launch is late if its call
/// ended less than `launchLatencyNs` before the GPU ran out of work, or later. If the launch was in time, the CPU is
/// not the cause: other idle. Else the first that fits:
///
/// - Data loading: a thread that launches work of this worker, or the step thread, is in an NVTX range named like data
///   loading (`isDataLoadingName`). Or the launch is late and the awaited thread has such a name. Or all of this holds:
///   the launch is late; the next work is the copy of a batch; none of these threads is in a CUDA call; every NVTX
///   range around the awaited thread also contains the call for the copy (not the end of the previous step, nor a
///   checkpoint). If its states are known, it was seen to wait for a possible source of data, and not for a thread that
///   launches meanwhile. The copy of a batch is the first HtoD copy of a step with at least half the bytes of its
///   largest.
/// - Synchronization: one of these threads is in a CUDA call whose name contains "Synchronize". Or the launch is late
///   and the awaited thread was in such a call when the GPU ran out of work. This covers the time from the end of the
///   call on, as long as the thread waited in such calls of the step before (less the part used by earlier gaps), since
///   it would be earlier by that. It covers all of a gap that is no longer than the time from a wait to the next
///   launch. Excluded are allocations, calls of pageable memory, and times at which the thread was seen to wait for
///   something else.
/// - Launch-bound: the launch is late.
/// - Other idle: the launching call is not recorded, or no work follows.
class WorkerTimeline {
  public:
    /// Makes the timeline of the worker of `steps`. The first copy of a step is searched in its launched work. Idle
    /// time before the first work has a cause from `sinceNs` on.
    WorkerTimeline(const RunContext& run, const WorkerSteps& steps, int64_t sinceNs = INT64_MAX);

    /// Receives a piece of the time of window number `window`.
    using Sink = std::function<void(uint32_t window, StepPart part, int64_t ns, ContributorTable::Id contributor)>;
    /// Splits windows, sorted and not overlapping, into pieces that cover them exactly. O(n).
    void split(const std::vector<TimeRange>& windows, const Sink& sink) const;

    /// A piece of the time of a window.
    struct Piece {
        uint32_t window = 0;
        TimeRange range;
        StepPart part = StepPart::Compute;
        ContributorTable::Id contributor = 0;
    };
    /// Does the same with the time of each piece; part by part, by start within a part.
    void splitInTime(const std::vector<TimeRange>& windows, const std::function<void(const Piece&)>& sink) const;

    const WorkList& work() const { return work_; }
    const std::vector<Contributor>& contributors() const { return table_.contributors(); }

    /// Generous upper bound of the time from a launch to its start on an idle GPU.
    static constexpr int64_t launchLatencyNs = 10'000;

  private:
    ContributorTable table_;
    WorkList work_;
    std::array<Intervals, stepPartCount> claims_;
    ContributorTable::Id nothing_ = 0;  ///< Contributor of unclaimed time.
};

/// The workers of a run with their common data, for queries of events and gaps. Immutable; refers to the trace.
class RunWorkers {
  public:
    /// Fails as `findSteps` does. O(n log n) in the events; any thread.
    static Result<RunWorkers> of(const Trace& trace, const StepSelection& selection = {});

    /// Returns the workers that have steps.
    const std::vector<WorkerSteps>& workers() const { return workers_; }
    /// Returns the worker of that PID and GPU number; null if it has no steps.
    const WorkerSteps* find(uint32_t pid, int64_t gpuId) const;
    /// Returns the timeline of one worker. O(n log n) in its events.
    WorkerTimeline timelineOf(const WorkerSteps& worker) const;
    const Trace& trace() const;

  private:
    RunWorkers(const Trace& trace, const RunSteps& steps);

    std::shared_ptr<const RunContext> run_;
    std::vector<WorkerSteps> workers_;
};

/// Returns the times of its steps, by start.
std::vector<TimeRange> rangesOf(const WorkerSteps& worker);

/// Activity of one worker from its first to its last work, piece by piece, for repeated queries. Immutable.
class PartTimeline {
  public:
    PartTimeline() = default;
    /// O(n log n) in the pieces that `range` falls into.
    PartTimeline(const WorkerTimeline& timeline, TimeRange range);

    TimeRange range() const { return range_; }
    /// Writes the time of each part in each of `count` equal columns of a range into `sums`. O(count log n).
    void columns(TimeRange asked, size_t count, std::vector<StepParts>& sums) const;

    /// Calls `visit(range, contributor)` for each piece within a range, by start. O(log n) and the calls.
    void forEachIn(TimeRange asked, auto visit) const {
        asked = asked.intersected(range_);
        if (asked.isEmpty()) return;
        for (size_t piece = pieceAt(asked.startNs); piece < startNs_.size() && startNs_[piece] < asked.endNs; ++piece)
            visit(TimeRange{startNs_[piece], endOf(piece)}.intersected(asked), contributors_[piece]);
    }
    StepPart partOf(uint32_t contributor) const { return parts_[contributor]; }

  private:
    static constexpr size_t blockSize = 64;

    size_t pieceAt(int64_t timeNs) const {
        const auto after = std::ranges::upper_bound(startNs_, timeNs);
        return static_cast<size_t>(after - startNs_.begin()) - (after != startNs_.begin() ? 1 : 0);
    }
    int64_t endOf(size_t piece) const { return piece + 1 < startNs_.size() ? startNs_[piece + 1] : range_.endNs; }
    /// Returns the sums from the start of the range to a time in it.
    StepParts sumBefore(int64_t timeNs) const;

    TimeRange range_;
    // A piece lasts until the next begins: they cover the range.
    std::vector<int64_t> startNs_;
    std::vector<uint32_t> contributors_;
    std::vector<StepPart> parts_;    ///< By contributor.
    std::vector<StepParts> before_;  ///< Sums of all pieces before each block.
};

}  // namespace lanescope::analysis
