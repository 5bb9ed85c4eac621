// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "model/compare/GpuWork.h"
#include "model/compare/StepParts.h"
#include "model/values/stretches.h"

namespace lanescope::compare {

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

}  // namespace lanescope::compare
