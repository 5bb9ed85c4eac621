// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "model/compare/GpuWork.h"
#include "model/compare/WorkerTimeline.h"
#include "model/format/Result.h"
#include "model/steps/StepSelection.h"

namespace lanescope::compare {

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

}  // namespace lanescope::compare
