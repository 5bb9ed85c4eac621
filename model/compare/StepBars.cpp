// SPDX-License-Identifier: Apache-2.0
#include "model/compare/StepBars.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/compare/judgeSteps.h"

namespace lanescope::compare {

namespace {

constexpr size_t mostBars = 1000;

StepBars::Bar barOf(const std::vector<int64_t>& wallNs, size_t first, size_t count) {
    std::vector<int64_t> some(wallNs.begin() + static_cast<ptrdiff_t>(first),
                              wallNs.begin() + static_cast<ptrdiff_t>(first + count));
    std::sort(some.begin(), some.end());
    return {first, count, some.front(), some[some.size() / 2], some.back()};
}

StepBars::Run runOf(const StepBarsOf& given, size_t stepsPerBar) {
    StepBars::Run run;
    run.steps = given.steps;
    run.band = given.band;
    if (!given.worker) return run;
    for (const StepSummary& step : given.worker->steps) {
        run.numbers.push_back(step.number);
        run.names.push_back(step.name.empty() ? fmt::format("step {}", step.number) : step.name);
        run.wallNs.push_back(step.wallNs);
    }
    for (size_t first = 0; first < run.wallNs.size(); first += stepsPerBar)
        run.bars.push_back(
            barOf(run.wallNs, first, std::min(stepsPerBar, run.wallNs.size() - first)));
    const std::vector<StepSummary>& steps = given.worker->steps;
    for (const OutlierStep& outlier : given.worker->outliers) {
        const auto at = std::find_if(steps.begin(), steps.end(), [&](const StepSummary& step) {
            return step.startNs == outlier.startNs;
        });
        if (at != steps.end())
            run.marks.push_back({static_cast<size_t>(at - steps.begin()), outlier});
    }
    return run;
}

}  // namespace

RunBand runBand(std::span<const WorkerSummary* const> workers) {
    RunBand band;
    for (const WorkerSummary* worker : workers) {
        const double medianNs = stepsOf(*worker).medianNs;
        band.lowestNs = band.runs == 0 ? medianNs : std::min(band.lowestNs, medianNs);
        band.highestNs = std::max(band.highestNs, medianNs);
        ++band.runs;
    }
    return band;
}

StepBars stepBars(std::span<const StepBarsOf> runs) {
    StepBars bars;
    for (const StepBarsOf& run : runs)
        if (run.worker) bars.stepCount = std::max(bars.stepCount, run.worker->steps.size());
    bars.stepsPerBar = std::max<size_t>(1, (bars.stepCount + mostBars - 1) / mostBars);
    for (const StepBarsOf& run : runs) bars.runs.push_back(runOf(run, bars.stepsPerBar));
    return bars;
}

}  // namespace lanescope::compare
