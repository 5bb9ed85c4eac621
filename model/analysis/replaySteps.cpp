// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/replaySteps.h"

#include <algorithm>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/analysis/WorkerTimeline.h"
#include "model/analysis/hostThreads.h"
#include "model/trace/kinds/workStacks.h"

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

Result<ReplayedRun> replayRun(const Trace& trace, const StepSelection& selection) {
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return fail(steps.error());
    const WorkerSteps* longest = nullptr;
    double longestNs = 0;
    for (const WorkerSteps& worker : steps->workers) {
        double ns = 0;
        for (const StepSpan& step : worker.steps) ns += static_cast<double>(step.range.durationNs());
        ns /= static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
        if (ns > longestNs) longest = &worker;
        longestNs = std::max(longestNs, ns);
    }
    if (longest == nullptr) return fail("{}: no steps found. Choose ranges with --range.", trace.path.string());
    const Process& process = trace.processes[longest->process];
    WorkerSummary named;
    named.pid = process.pid;
    named.rank = process.rank;
    named.gpuId = trace.gpus[longest->gpu].id;
    const RunContext run(trace, *steps);
    return ReplayedRun{named.label(), replaySteps(run, ownPlaces(trace), *longest)};
}

}  // namespace lanescope::analysis
