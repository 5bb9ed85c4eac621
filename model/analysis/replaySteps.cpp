// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/replaySteps.h"

#include <algorithm>
#include <vector>

#include "model/analysis/ThreadActivities.h"
#include "model/analysis/WorkerTimeline.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope::analysis {

causality::StepReplay replaySteps(const RunContext& run, std::span<const uint32_t> places, const WorkerSteps& worker,
                                  size_t maxEvents) {
    const std::vector<bool> isOfLoader = stacksOfLoader(run.trace);
    const auto isLoading = [&](uint32_t thread, TimeRange time) {
        const int64_t middleNs = time.startNs + time.durationNs() / 2;
        bool isLoader = run.paths.isDataLoading(run.paths.at(thread, middleNs));
        run.states.forEachIn(thread, {middleNs, middleNs + 1}, [&](uint32_t row, TimeRange) {
            const uint32_t stack = run.trace.cpuStates.stack[row];
            isLoader |= stack < isOfLoader.size() && isOfLoader[stack];
        });
        return isLoader;
    };
    return {{run.trace, run.states, places, isLoading}, {worker.process, worker.gpu, rangesOf(worker)}, maxEvents};
}

const WorkerSteps* stepsOf(const Trace& trace, const RunSteps& steps, const WorkerSummary& worker) {
    const auto found = std::ranges::find_if(steps.workers, [&](const WorkerSteps& each) {
        return trace.processes[each.process].pid == worker.pid && trace.gpus[each.gpu].id == worker.gpuId;
    });
    return found == steps.workers.end() ? nullptr : &*found;
}

Result<ReplayedRun> replayRun(const Trace& trace, const StepSelection& selection, const RunSummary* known) {
    const Result<RunSummary> summary = known ? *known : summarizeRun(trace, selection);
    if (!summary) return fail(summary.error());
    const uint32_t critical = summary->criticalWorker();
    if (critical == noIndex) return fail("{}: no steps found. Choose ranges with --range.", trace.path.string());
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return fail(steps.error());
    const WorkerSummary& worker = summary->workers[critical];
    const RunContext run(trace, *steps);
    return ReplayedRun{worker.label(), replaySteps(run, ownPlaces(trace), *stepsOf(trace, *steps, worker))};
}

}  // namespace lanescope::analysis
