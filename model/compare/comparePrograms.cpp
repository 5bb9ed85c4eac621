// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/compare/answer.h"
#include "model/compare/cautions.h"
#include "model/compare/judgeRuns.h"
#include "model/compare/judgeSteps.h"
#include "model/compare/poolRuns.h"
#include "model/compare/workerPairs.h"
#include "model/values/formatValue.h"

namespace lanescope::compare {

namespace {

double medianStep(const WorkerSummary& worker) {
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : worker.steps) wallNs.push_back(step.wallNs);
    return std::max(1.0, distributionOf(wallNs).medianNs);
}

std::vector<double> mediansOf(RunGroup runs, const PooledRuns& pooled, uint32_t worker) {
    std::vector<double> medians;
    for (size_t run = 0; run < runs.size(); ++run)
        medians.push_back(medianStep(runs[run].workers[pooled.workers[run][worker]]));
    return medians;
}

/// What differs among the runs of a side makes them no runs of one program.
void addCautions(RunGroup runs, std::string_view side, std::vector<std::string>& cautions) {
    for (const RunSummary& run : runs) {
        if (!(run.facts.commandLine == runs.front().facts.commandLine))
            cautions.push_back(fmt::format(
                "The runs of the {} have not the same command: {} and {}.", side,
                printable(runs.front().facts.commandLine), printable(run.facts.commandLine)));
        else if (run.pattern != runs.front().pattern)
            cautions.push_back(fmt::format("The runs of the {} have other steps: {} and {}.", side,
                                           printable(runs.front().pattern),
                                           printable(run.pattern)));
        else
            continue;
        return;
    }
}

}  // namespace

Result<ProgramComparison> comparePrograms(RunGroup baseline, RunGroup candidate, RunGroup earlier) {
    if (baseline.size() == 1 && candidate.size() == 1 && earlier.empty())
        return ProgramComparison{baseline.front(), candidate.front(),
                                 compareRuns({baseline.front()}, {candidate.front()})};
    const Result<PooledRuns> before = poolRuns(baseline, "baseline");
    if (!before) return fail(before.error());
    const Result<PooledRuns> after = poolRuns(candidate, "candidate");
    if (!after) return fail(after.error());
    PooledRuns spread;
    if (!earlier.empty()) {
        Result<PooledRuns> pooled = poolRuns(earlier, "earlier runs");
        if (!pooled) return fail(pooled.error());
        spread = std::move(*pooled);
        if (spread.summary.workers.size() != before->summary.workers.size())
            return fail("The earlier runs have not the same processes on GPUs as the baseline.");
    }
    ProgramComparison programs{before->summary, after->summary, {}};
    RunComparison& comparison = programs.comparison;
    comparison = compareRuns({programs.baseline}, {programs.candidate});
    for (size_t index = 0; index < comparison.workers.size(); ++index) {
        WorkerComparison& pair = comparison.workers[index];
        RunMedians medians{mediansOf(baseline, *before, pair.baselineWorker),
                           mediansOf(candidate, *after, pair.candidateWorker),
                           {}};
        if (!earlier.empty()) medians.spread = mediansOf(earlier, spread, pair.baselineWorker);
        if (freedomOf(medians) == 0) continue;
        pair.claim = judgeRuns(medians);
        comparison.exact[index].claim = pair.claim;
    }
    answer(comparison, programs.baseline, programs.candidate);
    addCautions(baseline, "baseline", comparison.answer.cautions);
    addCautions(candidate, "candidate", comparison.answer.cautions);
    if (!earlier.empty() && earlier.front().facts.commandLine != baseline.front().facts.commandLine)
        comparison.answer.cautions.push_back(
            "The earlier runs were not started by the baseline's command, so runs of it may differ "
            "more or less than they do.");
    return programs;
}

}  // namespace lanescope::compare
