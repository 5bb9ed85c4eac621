// SPDX-License-Identifier: Apache-2.0
#include "model/pages/fullPart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "model/analysis/StepSelection.h"
#include "model/lod/SumTable.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::report {

using namespace analysis;

namespace {

/// Slices and counter values of a trace that is shown in full.
constexpr uint64_t maxWholeSlices = 60'000;
/// Slices of steps chosen by default.
constexpr uint64_t maxDefaultSlices = 150'000;
/// Slices of a chosen part.
constexpr uint64_t maxChosenSlices = 2'000'000;

uint64_t sliceCount(const Trace& trace, TimeRange range) {
    uint64_t count = 0;
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes) {
            const SliceRun run = slicesIn(lane, range);
            count += run.end - run.first;
        }
    for (const CounterSeries& series : trace.counters)
        if (!series.isEmpty()) count += series.nearestSample(range.endNs) - series.nearestSample(range.startNs) + 1;
    return count;
}

Result<TimeRange> timeOfSteps(const Trace& trace, StepRange numbers) {
    const Result<RunSteps> steps = findSteps(trace, StepSelection{{}, numbers, {}, false});
    if (!steps) return fail(steps.error());
    std::optional<TimeRange> all;
    for (const WorkerSteps& worker : steps->workers)
        for (const StepSpan& step : worker.steps) {
            TimeRange range = step.range;
            if (!step.launches.isEmpty()) range = range.united(step.launches);
            all = all ? all->united(range) : range;
        }
    if (!all) return fail("{} has no steps {}-{}.", trace.title, numbers.first, numbers.last);
    return *all;
}

/// Returns the index of the first of three steps: those around `middle`, or those of the most usual duration.
size_t firstOfThree(const WorkerSummary& worker, std::optional<uint32_t> middle) {
    const std::vector<StepSummary>& steps = worker.steps;
    const size_t last = steps.size() < 3 ? 0 : steps.size() - 3;
    if (middle) return std::min<size_t>(*middle == 0 ? 0 : *middle - 1, last);
    const int64_t medianNs = upperMedianOf(worker.wallTimes());
    size_t best = 0;
    int64_t bestNs = INT64_MAX;
    for (size_t first = 0; first <= last; ++first) {
        int64_t ns = 0;
        for (size_t step = first; step < std::min(first + 3, steps.size()); ++step)
            ns += std::abs(steps[step].wallNs - medianNs);
        if (ns < bestNs) best = first;
        bestNs = std::min(ns, bestNs);
    }
    return best;
}

std::optional<StepRange> threeSteps(const RunSummary& run, uint32_t worker, std::optional<uint32_t> middle) {
    if (worker >= run.workers.size() || run.source == StepSource::WholeRun) return std::nullopt;
    const auto& steps = run.workers[worker].steps;
    if (steps.empty()) return std::nullopt;
    const size_t first = firstOfThree(run.workers[worker], middle);
    return StepRange{steps[first].number, steps[std::min(first + 2, steps.size() - 1)].number};
}

std::string stepsText(StepRange numbers) {
    return numbers.first == numbers.last ? fmt::format("step {}", numbers.first)
                                         : fmt::format("steps {} to {}", numbers.first, numbers.last);
}

/// Returns the longest part around the middle of a range that has few enough slices.
TimeRange partOf(const Trace& trace, TimeRange range) {
    while (range.durationNs() > 1000 && sliceCount(trace, range) > maxDefaultSlices) {
        const int64_t quarterNs = range.durationNs() / 4;
        range = {range.startNs + quarterNs, range.endNs - quarterNs};
    }
    return range;
}

FullPart defaultPart(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                     const std::optional<explain::FindingPlace>& place) {
    const TimeRange whole = trace.timelineRange();
    if (sliceCount(trace, whole) <= maxWholeSlices) return {whole, "the whole run"};
    const bool isFound = place && place->stepIndex;
    const std::optional<StepRange> numbers =
        isFound ? threeSteps(run, explanation.findings.front().worker, place->stepIndex) : typicalSteps(run);
    if (const Result<TimeRange> time = timeOfSteps(trace, numbers.value_or(StepRange{})); numbers && time) {
        const TimeRange range = partOf(trace, *time);
        return {range, fmt::format("{}{}, {}", range == *time ? "" : "a part of ", stepsText(*numbers),
                                   isFound ? "around the largest finding" : "the most usual ones")};
    }
    if (place) return {partOf(trace, place->view), "around the largest finding"};
    return {partOf(trace, whole), "the middle of the run"};
}

Result<FullPart> chosenPart(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                            const std::optional<explain::FindingPlace>& place, const TimelineRequest& request) {
    if (request.time) {
        const TimeRange range = request.time->intersected(trace.timelineRange());
        if (range.isEmpty()) return fail("The chosen time is outside of {}.", trace.title);
        return FullPart{range, "the chosen time"};
    }
    if (request.steps) {
        const Result<TimeRange> range = timeOfSteps(trace, *request.steps);
        if (!range) return fail(range.error());
        return FullPart{*range, stepsText(*request.steps) + ", as chosen"};
    }
    return defaultPart(trace, run, explanation, place);
}

}  // namespace

std::optional<StepRange> typicalSteps(const RunSummary& run) {
    return threeSteps(run, run.criticalWorker(), std::nullopt);
}

Result<FullPart> fullPartOf(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                            const std::optional<explain::FindingPlace>& place, const TimelineRequest& request) {
    Result<FullPart> part = chosenPart(trace, run, explanation, place, request);
    const uint64_t count = part ? sliceCount(trace, part->range) : 0;
    if (count <= maxChosenSlices) return part;
    return fail(
        "{}: the chosen part has {} slices and counter values, more than the {} of a page. Choose fewer steps or a "
        "shorter time.",
        trace.title, formatCount(static_cast<int64_t>(count)), formatCount(maxChosenSlices));
}

}  // namespace lanescope::report
