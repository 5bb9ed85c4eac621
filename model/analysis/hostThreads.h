// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/WorkerTimeline.h"
#include "model/trace/ThreadTimes.h"

namespace lanescope::analysis {

/// The threads that load data for each process: those of processes that it started, also by way of
/// others that are no other rank, which are called as those that load data or were seen in
/// PyTorch's loader; if there are none, its own threads of such a name. Immutable; any thread.
class LoaderThreads {
  public:
    /// O(processes, threads, stacks and states of threads).
    explicit LoaderThreads(const Trace& trace);

    /// In their order.
    const std::vector<uint32_t>& of(uint32_t process) const {
        return started_[process].empty() ? own_[process] : started_[process];
    }

  private:
    std::vector<std::vector<uint32_t>> started_, own_;  ///< By process.
};

/// What the data loaders of a process did in its steps, which are in order and do not overlap.
/// `states` and `loaders` are those of the trace. O(loaders * steps * log n) and the states in
/// them.
LoaderTimes loaderTimes(const StatesOfThreads& states, std::span<const uint32_t> loaders,
                        std::span<const TimeRange> steps);

/// How `threads`, those of a process, lacked cores in its steps, which are in order and do not
/// overlap. What the kernel counted of a time of which a step is a part is shared out evenly.
/// `states` are those of the trace. Nothing where none of them was counted in the steps. O(threads,
/// steps, and states * log steps).
std::optional<CoreWaits> coreWaits(const Trace& trace, const StatesOfThreads& states,
                                   std::span<const uint32_t> threads,
                                   std::span<const TimeRange> steps);

/// For how long at least, between steps that are requests, the thread that launches what comes next
/// waited while the GPU had no work, and where most of that time. `steps` are in order and do not
/// overlap, `work` is sorted by start. O(work + steps * log n) and the states between them.
RestBetween restBetween(const RunContext& run, std::span<const TimeRange> steps,
                        const LargeVector<GpuWork>& work);

/// From which length of a stretch on idle time outside of calls is of work of the host, and not of
/// the way from one launch to the next, which takes some microseconds.
inline constexpr int64_t leastWorkNs = 500'000;

/// Says of contributors to launch-bound time what of it in `windows` the launching thread ran:
/// the kernel's count of its time on a core decides, whatever looks saw. Of all such time that lies
/// between the same looks it cannot have run for longer than that (`Contributor::waitedNs`); where
/// the count misses by no more than a tenth of the time between them it ran all of it, as nobody
/// knows to the nanosecond where a run of looks ends. Who waits for a lock may wait for another
/// thread that launches work of this worker, and then the time of these counts, too. What it ran in
/// stretches from `leastWorkNs` on is work of its own (`Contributor::workedNs`), if looks saw it
/// run. `contributors` are those of the timeline, `windows` as for it. O(n log n) in the pieces of
/// launch-bound time.
void addRanAndWaited(const RunContext& run, const WorkerTimeline& timeline,
                     const std::vector<TimeRange>& windows, std::vector<Contributor>& contributors);

}  // namespace lanescope::analysis
