// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunWorkers.h"

#include <algorithm>

namespace lanescope::compare {

RunWorkers::RunWorkers(const Trace& trace, const RunSteps& steps)
    : run_(std::make_shared<const RunContext>(trace, steps)) {
    for (const WorkerSteps& worker : steps.workers)
        if (!worker.steps.empty()) workers_.push_back(worker);
}

Result<RunWorkers> RunWorkers::of(const Trace& trace, const StepSelection& selection) {
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return fail(steps.error());
    return RunWorkers(trace, *steps);
}

const WorkerSteps* RunWorkers::find(uint32_t pid, int64_t gpuId) const {
    const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const WorkerSteps& each) {
        return trace().processes[each.process].pid == pid && trace().gpus[each.gpu].id == gpuId;
    });
    return found == workers_.end() ? nullptr : &*found;
}

WorkerTimeline RunWorkers::timelineOf(const WorkerSteps& worker) const {
    return WorkerTimeline(*run_, worker);
}

const Trace& RunWorkers::trace() const {
    return run_->trace;
}

std::vector<TimeRange> rangesOf(const WorkerSteps& worker) {
    std::vector<TimeRange> ranges;
    for (const StepSpan& step : worker.steps) ranges.push_back(step.range);
    return ranges;
}

}  // namespace lanescope::compare
