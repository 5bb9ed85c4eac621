// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunWorkers.h"

#include <algorithm>

namespace lanescope::compare {

struct RunWorkers::Shared {
    Shared(const Trace& trace, std::string_view stepPattern)
        : calls(trace),
          paths(trace, stepPattern),
          waits(trace),
          run{trace, calls, paths, waits, 0} {}
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    LaunchingCalls calls;
    RangePaths paths;
    CollectiveWaits waits;
    RunContext run;  ///< Refers to the others.
};

RunWorkers::RunWorkers(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}

Result<RunWorkers> RunWorkers::of(const Trace& trace, const StepSelection& selection) {
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return fail(steps.error());
    const bool isNvtx = steps->source == StepSource::NvtxRange;
    RunWorkers made(std::make_shared<const Shared>(
        trace, isNvtx ? std::string_view(steps->pattern) : std::string_view()));
    for (const WorkerSteps& worker : steps->workers)
        if (!worker.steps.empty()) made.workers_.push_back(worker);
    return made;
}

const WorkerSteps* RunWorkers::find(uint32_t pid, int64_t gpuId) const {
    const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const WorkerSteps& each) {
        return trace().processes[each.process].pid == pid && trace().gpus[each.gpu].id == gpuId;
    });
    return found == workers_.end() ? nullptr : &*found;
}

WorkerTimeline RunWorkers::timelineOf(const WorkerSteps& worker) const {
    return WorkerTimeline(shared_->run, worker);
}

const Trace& RunWorkers::trace() const {
    return shared_->run.trace;
}

std::vector<TimeRange> rangesOf(const WorkerSteps& worker) {
    std::vector<TimeRange> ranges;
    for (const StepSpan& step : worker.steps) ranges.push_back(step.range);
    return ranges;
}

}  // namespace lanescope::compare
