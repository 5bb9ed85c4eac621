// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/StepParts.h"
#include "model/analysis/StepSelection.h"
#include "model/format/Result.h"
#include "model/numbers/intervals.h"

namespace lanescope::analysis {

/// What one worker did at every moment: for each part the stretches that claim time for it. Made
/// once, asked for any windows of time. Immutable; O(n log n) in the events of the run.
///
/// GPU work claims its time; of several pieces of one part at once the first to start. A collective
/// that waits for other ranks does no work yet, so all other work comes before it. Where none runs,
/// waiting or not, the GPU waits for its next work, and the thread that launched that is the
/// awaited one. The launch is late if its call ended less than `launchLatencyNs` before the GPU ran
/// out of work, or later. If it was in time, the CPU is not to blame, whatever it did: other idle.
/// Else:
///
/// - Data loading: a thread that launches work of this worker, or the one with the steps, is in an
///   NVTX range named like data loading (`isDataLoadingName`). Or the launch is late and the
///   awaited thread is named so. Or the launch is late, the next work is the copy of a batch, and
///   none of these threads is in a CUDA call, and the awaited one is in no NVTX range that does not
///   hold the call for the copy, too (the end of the step before, a checkpoint). Where anything is
///   known of what it did, it was seen to wait for what may bring data, and not for a thread that
///   launches meanwhile. The copy of a batch is the first HtoD copy of a step with at least half
///   the bytes of its largest.
/// - Synchronization: one of these threads is in a CUDA call whose name holds "Synchronize". Or the
///   launch is late and the awaited thread was in such a call when the GPU ran out of work: from
///   the end of the call on, as long as it waited in such calls of the step before (less what
///   earlier gaps have taken), since it would be earlier by that; all of a gap that is no longer
///   than the way from a wait to the next launch. But not in allocations and calls of pageable
///   memory, nor where it was seen to wait for something else.
/// - Launch-bound: the launch is late.
/// - Other idle: the launching call is not recorded, or no work follows.
///
/// The first that fits counts.
class WorkerTimeline {
  public:
    /// Of the worker of `steps`; a step's first copy is looked for in what it launched.
    WorkerTimeline(const RunContext& run, const WorkerSteps& steps);

    /// Takes a piece of the time of window number `window`.
    using Sink = std::function<void(uint32_t window, StepPart part, int64_t ns,
                                    ContributorTable::Id contributor)>;
    /// Splits windows, sorted and not overlapping, into pieces that cover them exactly. O(n).
    void split(const std::vector<TimeRange>& windows, const Sink& sink) const;

    /// A piece of the time of a window.
    struct Piece {
        uint32_t window = 0;
        TimeRange range;
        StepPart part = StepPart::Compute;
        ContributorTable::Id contributor = 0;
    };
    /// The same, with when each piece was; part by part, each part's by start.
    void splitInTime(const std::vector<TimeRange>& windows,
                     const std::function<void(const Piece&)>& sink) const;

    const LargeVector<GpuWork>& work() const { return work_; }
    const std::vector<Contributor>& contributors() const { return table_.contributors(); }

    /// How long a launch takes to reach a GPU that has nothing to do, generously.
    static constexpr int64_t launchLatencyNs = 10'000;

  private:
    ContributorTable table_;
    LargeVector<GpuWork> work_;
    std::array<Stretches, stepPartCount> claims_;
    ContributorTable::Id nothing_ = 0;  ///< For time that nothing claims.
};

/// The workers of a run with what is worked out once for all of them, for who asks after single
/// events and gaps. Immutable; refers to the trace, which must outlive it.
class RunWorkers {
  public:
    /// Fails as `findSteps` does. O(n log n) in the events; any thread.
    static Result<RunWorkers> of(const Trace& trace, const StepSelection& selection = {});

    /// Those that have steps.
    const std::vector<WorkerSteps>& workers() const { return workers_; }
    /// The one of that process and GPU, by what people call them; null if it has no steps.
    const WorkerSteps* find(uint32_t pid, int64_t gpuId) const;
    /// What one of them did at every moment. O(n log n) in its events.
    WorkerTimeline timelineOf(const WorkerSteps& worker) const;
    const Trace& trace() const;

  private:
    RunWorkers(const Trace& trace, const RunSteps& steps);

    std::shared_ptr<const RunContext> run_;
    std::vector<WorkerSteps> workers_;
};

/// The times of its steps, by start.
std::vector<TimeRange> rangesOf(const WorkerSteps& worker);

/// What one worker did from its first to its last work, piece by piece, kept to be asked again and
/// again. Immutable.
class PartTimeline {
  public:
    PartTimeline() = default;
    /// O(n log n) in the pieces that `range` falls into.
    PartTimeline(const WorkerTimeline& timeline, TimeRange range);

    TimeRange range() const { return range_; }
    /// How much of each part lies in a time. O(log n).
    StepParts sumIn(TimeRange asked) const;
    /// The same of `count` equal columns of a time, each into its place of `sums`.
    /// O(count log n).
    void columns(TimeRange asked, size_t count, std::vector<StepParts>& sums) const;

    /// Calls `visit(range, contributor)` for what lies in a time, by start. O(log n) and the calls.
    template <class Visit>
    void forEachIn(TimeRange asked, Visit visit) const {
        asked = asked.intersected(range_);
        if (asked.isEmpty()) return;
        for (size_t piece = pieceAt(asked.startNs);
             piece < startNs_.size() && startNs_[piece] < asked.endNs; ++piece)
            visit(TimeRange{startNs_[piece], endOf(piece)}.intersected(asked),
                  contributors_[piece]);
    }
    StepPart partOf(uint32_t contributor) const { return parts_[contributor]; }

  private:
    static constexpr size_t blockSize = 64;

    size_t pieceAt(int64_t timeNs) const {
        const auto after = std::upper_bound(startNs_.begin(), startNs_.end(), timeNs);
        return static_cast<size_t>(after - startNs_.begin()) - (after != startNs_.begin() ? 1 : 0);
    }
    int64_t endOf(size_t piece) const {
        return piece + 1 < startNs_.size() ? startNs_[piece + 1] : range_.endNs;
    }
    /// From the start of the range to a time in it.
    StepParts sumBefore(int64_t timeNs) const;

    TimeRange range_;
    // A piece lasts until the next begins: they cover the range.
    std::vector<int64_t> startNs_;
    std::vector<uint32_t> contributors_;
    std::vector<StepPart> parts_;    ///< By contributor.
    std::vector<StepParts> before_;  ///< Of all pieces before each block.
};

}  // namespace lanescope::analysis
