// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "model/compare/answer.h"
#include "model/compare/cautions.h"
#include "model/compare/judgeParts.h"
#include "model/compare/poolRuns.h"
#include "model/compare/runTurns.h"
#include "model/compare/sameRecording.h"
#include "model/compare/workerPairs.h"
#include "model/values/formatValue.h"

namespace lanescope::compare {

namespace {

bool isAmong(RunGroup runs, const RunSummary& run) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const RunSummary& each) { return isSameRecording(each, run); });
}

/// "a.sqlite and b.sqlite", "Two files named a.sqlite".
std::string bothOf(const std::string& one, const std::string& other) {
    return one == other ? fmt::format("Two files named {}", printable(one))
                        : fmt::format("{} and {}", printable(one), printable(other));
}

/// A recording that stands there twice, as two files, would count as two runs that agree entirely.
Result<void> checkRunsDiffer(RunGroup runs, RunGroup others) {
    for (size_t second = 0; second < runs.size(); ++second) {
        const RunGroup before = runs.first(second);
        for (const RunGroup group : {before, others})
            for (const RunSummary& first : group)
                if (isSameRecording(first, runs[second]))
                    return fail("{} are copies of one recording, which is one run: name it once.",
                                bothOf(first.facts.title, runs[second].facts.title));
    }
    return {};
}

using Predicate = std::function<bool(const RunSummary&)>;

/// What stands for the worker in each run of which `isWanted` is true.
WorkerRuns workersOf(RunGroup runs, const PooledRuns& pooled, uint32_t worker,
                     const Predicate& isWanted) {
    WorkerRuns workers;
    for (size_t run = 0; run < runs.size(); ++run)
        if (isWanted(runs[run])) workers.push_back(&runs[run].workers[pooled.workers[run][worker]]);
    return workers;
}

/// Without any spread nothing can be said of the programs.
bool hasSpread(const JudgedRuns& runs) {
    return runs.baseline.size() > 1 || runs.candidate.size() > 1 || runs.earlier.size() > 1;
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
    Result<void> differ = checkRunsDiffer(baseline, candidate);
    if (differ) differ = checkRunsDiffer(candidate, {});
    if (differ) differ = checkRunsDiffer(earlier, {});
    if (!differ) return fail(differ.error());
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
    const Predicate isAny = [](const RunSummary&) { return true; };
    // How runs of a side differ among themselves is counted there.
    const Predicate isNew = [&](const RunSummary& run) {
        return (baseline.size() == 1 || !isAmong(baseline, run)) &&
               (candidate.size() == 1 || !isAmong(candidate, run));
    };
    const RunTurns turns = earlier.empty() ? runTurns(baseline, candidate) : RunTurns{};
    for (size_t index = 0; index < comparison.workers.size(); ++index) {
        WorkerComparison& pair = comparison.workers[index];
        JudgedRuns runs{workersOf(baseline, *before, pair.baselineWorker, isAny),
                        workersOf(candidate, *after, pair.candidateWorker, isAny),
                        {},
                        turns.baseline,
                        turns.candidate};
        if (!earlier.empty()) runs.earlier = workersOf(earlier, spread, pair.baselineWorker, isNew);
        if (!hasSpread(runs) || pair.claim.outcome == Outcome::Nothing) continue;
        judgeParts(runs, pair);
        comparison.exact[index].quantities = pair.quantities;
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
