// SPDX-License-Identifier: Apache-2.0
#include "model/answers/unknowns.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::answers {

using namespace analysis;

std::vector<Unknown> unknownsOf(const Trace& trace, const RunSummary& run) {
    std::vector<Unknown> unknowns;
    const auto add = [&unknowns](const char* question, std::string reason) {
        unknowns.push_back({question, std::move(reason)});
    };
    const bool hasNoSteps = run.source == StepSource::WholeRun || run.criticalWorker() == noIndex;
    if (run.isEmpty()) add("GPU time", "The trace has no GPU work.");
    if (const HealthNote* damage = run.facts.damage()) add("exact totals", damage->sentence);
    if (run.facts.isTruncated) add("the end of the run", "A process ended abnormally or its log was truncated.");
    if (hasNoSteps)
        add("time per step", "No steps were found. Add NVTX ranges or name them with --range.");
    else if (std::ranges::any_of(run.workers, [](const WorkerSummary& worker) { return worker.steps.size() < 5; }))
        add("outlier steps", "Fewer than five steps.");
    if (trace.stacks.size() == 0) add("Python line", "No Python stacks. Record with lanescope, without --no-python.");
    if (trace.cpuStates.size() == 0)
        add("what host threads did between CUDA calls, and at which line",
            "No thread states. Record with lanescope, without --no-threads.");
    if (!run.facts.hasApiCalls) add("launch delays and CPU waits", "No CUDA API calls were recorded.");
    const auto ranks = static_cast<int64_t>(run.workers.size());
    if (run.facts.worldSize > ranks)
        add("late rank", fmt::format("The trace has {} of {} ranks.", ranks, run.facts.worldSize));
    else if (ranks < 2)
        add("late rank", "The trace has one rank.");
    if (trace.memoryEvents.size() == 0) add("memory allocations", "Not recorded. Use --memory.");
    if (std::ranges::none_of(run.workers, [](const WorkerSummary& worker) { return worker.use.mfu().has_value(); }))
        add("MFU and tensor core use", "Neither shapes nor hardware counters were recorded.");
    if (run.nvlink.evidence == LinkEvidence::None) add("NVLink traffic", "No counters, copies or collectives show it.");
    add("whether the program is slower than before", "One run. Compare several runs per side.");
    return unknowns;
}

}  // namespace lanescope::answers
