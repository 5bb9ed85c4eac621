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
/// may be a wait for another thread that launches work of this worker; then that thread's time counts, too. Runs of at
/// least `minWorkNs` are work of its own (`Contributor::workedNs`), if samples saw it run. Also sets the estimate
/// `gilNs`, and `launched` of idle time without a place. `contributors` are those of the timeline, `windows` as for it.
/// O(n log n) in the pieces of launch-bound time.
void addRanAndWaited(const RunContext& run, const WorkerTimeline& timeline, const std::vector<TimeRange>& windows,
                     std::vector<Contributor>& contributors);

}  // namespace lanescope::analysis
