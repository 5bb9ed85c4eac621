// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/ComparedRuns.h"

namespace lanescope::views {

namespace {

compare::RunBand bandOf(const std::vector<ComparedRuns::Side>& runs, uint32_t worker) {
    std::vector<const compare::WorkerSummary*> workers;
    for (const ComparedRuns::Side& run : runs) workers.push_back(&run.summary.workers[worker]);
    return compare::runBand(workers);
}

}  // namespace

compare::RunBand ComparedPair::baselineBand() const {
    return bandOf(runs.baselineRuns, workers().baselineWorker);
}

compare::RunBand ComparedPair::candidateBand() const {
    return bandOf(runs.candidateRuns, workers().candidateWorker);
}

compare::ComparisonView ComparedPair::view() const {
    compare::ComparisonView view;
    view.candidates.push_back({"Candidate", &workers()});
    for (size_t other = 0; other < runs.candidates.size(); ++other) {
        if (other == candidate) continue;
        const compare::WorkerComparison* same = nullptr;
        for (const compare::WorkerComparison& each : runs.comparisons[other].workers)
            if (!same && each.baselineWorker == workers().baselineWorker) same = &each;
        view.candidates.push_back({runs.candidates[other].trace->title, same});
    }
    return view;
}

}  // namespace lanescope::views
