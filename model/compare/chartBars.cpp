// SPDX-License-Identifier: Apache-2.0
#include "model/compare/chartBars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/compare/judgeRuns.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

constexpr size_t maxStepBars = 1000;

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
        run.bars.push_back(barOf(run.wallNs, first, std::min(stepsPerBar, run.wallNs.size() - first)));
    const std::vector<StepSummary>& steps = given.worker->steps;
    for (const OutlierStep& outlier : given.worker->outliers) {
        const auto at = std::find_if(steps.begin(), steps.end(),
                                     [&](const StepSummary& step) { return step.startNs == outlier.startNs; });
        if (at != steps.end()) run.marks.push_back({static_cast<size_t>(at - steps.begin()), outlier});
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
    bars.stepsPerBar = std::max<size_t>(1, (bars.stepCount + maxStepBars - 1) / maxStepBars);
    for (const StepBarsOf& run : runs) bars.runs.push_back(runOf(run, bars.stepsPerBar));
    return bars;
}

namespace {

constexpr int64_t minShareDivisor = 100;  ///< One part in so many of all changes.

}  // namespace

int64_t WaterfallBars::lowestNs() const {
    int64_t lowest = std::min(baselineNs, candidateNs);
    for (const Bar& bar : bars) lowest = std::min(lowest, bar.toNs);
    return lowest;
}

int64_t WaterfallBars::highestNs() const {
    int64_t highest = std::max(baselineNs, candidateNs);
    for (const Bar& bar : bars) highest = std::max(highest, bar.toNs);
    return highest;
}

WaterfallBars waterfallBars(const WorkerComparison& pair, size_t maxBars) {
    std::vector<PartDifference> changed;
    int64_t allNs = 0;
    for (const PartDifference& part : pair.parts) {
        if (part.lostNs() == 0) continue;
        changed.push_back(part);
        allNs += std::abs(part.lostNs());
    }
    std::stable_sort(changed.begin(), changed.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.lostNs()) > std::abs(b.lostNs()); });
    size_t shown = 0;
    while (shown < std::min(changed.size(), maxBars) && std::abs(changed[shown].lostNs()) * minShareDivisor >= allNs)
        ++shown;
    if (shown + 1 == changed.size()) ++shown;  // a single part is not combined

    WaterfallBars waterfall{pair.baseline.meanNs, pair.candidate.meanNs, {}, pair.scale};
    int64_t levelNs = pair.baseline.meanNs;
    for (size_t index = 0; index < shown; ++index) {
        const int64_t toNs = levelNs + changed[index].lostNs();
        waterfall.bars.push_back({std::string(name(changed[index].part)), changed[index].part, levelNs, toNs});
        levelNs = toNs;
    }
    if (levelNs != pair.candidate.meanNs)
        waterfall.bars.push_back(
            {fmt::format("{} other parts", changed.size() - shown), std::nullopt, levelNs, pair.candidate.meanNs});
    return waterfall;
}

}  // namespace lanescope::compare
