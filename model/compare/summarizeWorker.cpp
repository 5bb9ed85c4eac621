// SPDX-License-Identifier: Apache-2.0
#include "model/compare/summarizeWorker.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

#include "model/compare/WorkerTimeline.h"
#include "model/compare/coreWaits.h"
#include "model/compare/launchTimes.h"
#include "model/compare/ranAndWaited.h"
#include "model/compare/restBetween.h"
#include "model/compare/workPlaces.h"
#include "model/values/Statistics.h"
#include "model/values/significance.h"

namespace lanescope::compare {

namespace {

constexpr double fenceFactor = 3;  ///< Tukey's outer fence, in interquartile ranges.
constexpr double smallestExcessShare = 0.03;

void countWait(const GpuWork& work, int64_t order, Contributor& waiting) {
    if (waiting.count == 0) waiting.order = order;
    ++waiting.count;
    waiting.totalNs = saturatingSum(waiting.totalNs, work.movingFromNs - work.startNs);
}

/// Counts what the steps launched; where it first stands in a step is its order.
void countWork(const RunContext& run, const LargeVector<GpuWork>& all, const WorkerSteps& steps,
               std::vector<Contributor>& contributors, WorkPlaces& places) {
    std::vector<bool> isPlaced(contributors.size());
    std::vector<int64_t> seen(steps.steps.size());
    for (const GpuWork& work : all) {
        const uint32_t step = steps.stepOf(work.startNs, launchedNs(run, work));
        if (step == noIndex) continue;
        const int64_t place = seen[step]++;
        Contributor& contributor = contributors[work.contributor];
        ++contributor.count;
        places.add(work);
        contributor.totalNs = saturatingSum(contributor.totalNs, work.endNs - work.movingFromNs);
        contributor.bytes = saturatingSum(contributor.bytes, work.bytes);
        contributor.busBytes = saturatingSum(contributor.busBytes, work.busBytes);
        if (!isPlaced[work.contributor]) contributor.order = place;
        isPlaced[work.contributor] = true;
        if (work.movingFromNs > work.startNs)
            countWait(work, contributor.order, contributors[work.waiting]);
    }
    std::vector<std::string> launched = places.texts(contributors);
    for (size_t index = 0; index < contributors.size(); ++index)
        contributors[index].launched = std::move(launched[index]);
}

bool isHeavier(const Contributor& a, const Contributor& b) {
    if (a.part != b.part) return a.part < b.part;
    if (a.exposedNs != b.exposedNs) return a.exposedNs > b.exposedNs;
    if (a.totalNs != b.totalNs) return a.totalNs > b.totalNs;
    return std::tie(a.name, a.path) < std::tie(b.name, b.path);
}

void add(Contributor& sum, const Contributor& more) {
    sum.count = saturatingSum(sum.count, more.count);
    sum.exposedNs = saturatingSum(sum.exposedNs, more.exposedNs);
    sum.totalNs = saturatingSum(sum.totalNs, more.totalNs);
    sum.bytes = saturatingSum(sum.bytes, more.bytes);
    sum.busBytes = saturatingSum(sum.busBytes, more.busBytes);
    sum.waitedNs = saturatingSum(sum.waitedNs, more.waitedNs);
    sum.workedNs = saturatingSum(sum.workedNs, more.workedNs);
}

/// Sorted, without those that did nothing, and the least of each part summed up in one.
std::vector<Contributor> heaviest(std::vector<Contributor> all) {
    std::erase_if(all,
                  [](const Contributor& each) { return each.exposedNs == 0 && each.count == 0; });
    std::sort(all.begin(), all.end(), isHeavier);
    std::vector<Contributor> kept;
    size_t ofPart = 0;
    for (Contributor& each : all) {
        const bool isSamePart = !kept.empty() && kept.back().part == each.part;
        ofPart = isSamePart ? ofPart + 1 : 1;
        if (ofPart <= mostContributors) {
            kept.push_back(std::move(each));
            continue;
        }
        if (kept.back().kind != ContributorKind::Others) {
            Contributor others;
            others.part = each.part;
            others.kind = ContributorKind::Others;
            others.name = "others";
            kept.push_back(std::move(others));
        }
        add(kept.back(), each);
    }
    return kept;
}

/// What a step may take before it stands out.
double outlierLimit(std::vector<int64_t> wallNs) {
    const double medianNs = medianOf(wallNs);
    const double firstNs = quantileOf(wallNs, 0.25);
    const double thirdNs = quantileOf(wallNs, 0.75);
    return std::max(thirdNs + fenceFactor * (thirdNs - firstNs),
                    medianNs * (1 + smallestExcessShare));
}

std::vector<size_t> outlierSteps(const WorkerSummary& worker) {
    std::vector<size_t> found;
    if (worker.steps.size() < fewestStepsForOutliers) return found;
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : worker.steps) wallNs.push_back(step.wallNs);
    const double limitNs = outlierLimit(wallNs);
    for (size_t index = 0; index < worker.steps.size(); ++index)
        if (static_cast<double>(worker.steps[index].wallNs) > limitNs) found.push_back(index);
    std::stable_sort(found.begin(), found.end(), [&](size_t a, size_t b) {
        return worker.steps[a].wallNs > worker.steps[b].wallNs;
    });
    found.resize(std::min(found.size(), mostOutliers));
    return found;
}

/// The median of a part over all steps.
int64_t medianOfPart(const WorkerSummary& worker, StepPart part) {
    std::vector<int64_t> values;
    for (const StepSummary& step : worker.steps) values.push_back(step.parts[part]);
    return static_cast<int64_t>(medianOf(values));
}

OutlierStep describe(const WorkerSummary& worker, const StepSummary& step) {
    OutlierStep outlier;
    outlier.number = step.number;
    outlier.name = step.name;
    outlier.startNs = step.startNs;
    outlier.wallNs = step.wallNs;
    std::vector<int64_t> wallNs;
    for (const StepSummary& each : worker.steps) wallNs.push_back(each.wallNs);
    outlier.excessNs = step.wallNs - static_cast<int64_t>(medianOf(wallNs));
    for (size_t index = 0; index < stepPartCount; ++index) {
        const auto part = static_cast<StepPart>(index);
        const int64_t excessNs = step.parts[part] - medianOfPart(worker, part);
        if (excessNs <= outlier.partExcessNs) continue;
        outlier.part = part;
        outlier.partExcessNs = excessNs;
    }
    return outlier;
}

/// Names what in the part that grew took most more than it does in the mean of all steps.
void blame(OutlierStep& outlier, const std::map<ContributorTable::Id, int64_t>& spent,
           const std::vector<Contributor>& contributors, size_t stepCount) {
    int64_t mostNs = 0;
    for (const auto& [id, ns] : spent) {
        const Contributor& contributor = contributors[id];
        if (contributor.part != outlier.part) continue;
        // The mean of the other steps: this one would hide itself in a short run.
        const int64_t othersNs = (contributor.exposedNs - ns) /
                                 std::max<int64_t>(1, static_cast<int64_t>(stepCount) - 1);
        if (ns - othersNs <= mostNs) continue;
        mostNs = ns - othersNs;
        outlier.contributor = contributor.name;
        outlier.path = contributor.path;
    }
}

void findOutliers(const WorkerTimeline& timeline, const std::vector<Contributor>& contributors,
                  WorkerSummary& worker) {
    for (const size_t index : outlierSteps(worker)) {
        const StepSummary& step = worker.steps[index];
        OutlierStep outlier = describe(worker, step);
        std::map<ContributorTable::Id, int64_t> spent;
        timeline.split({{step.startNs, step.startNs + step.wallNs}},
                       [&](uint32_t, StepPart, int64_t ns, ContributorTable::Id contributor) {
                           spent[contributor] += ns;
                       });
        blame(outlier, spent, contributors, worker.steps.size());
        worker.outliers.push_back(std::move(outlier));
    }
}

RowsByOwner threadsByProcess(const Trace& trace) {
    return {std::views::transform(trace.threads, &Thread::process),
            trace.processes.size(),
            trace.memory.get(),
            {},
            [](uint32_t) { return true; }};
}

}  // namespace

SummarySources::SummarySources(const Trace& trace)
    : places(ownPlaces(trace)), threads(threadsByProcess(trace)), loaders(trace), counters(trace) {}

WorkerSummary summarizeWorker(const RunContext& run, const SummarySources& sources,
                              const WorkerSteps& steps) {
    WorkerSummary worker;
    worker.foundSteps = steps.foundCount;
    worker.warmUpSteps = steps.warmUpCount;
    worker.isLastLeftOut = steps.isLastLeftOut;
    std::vector<TimeRange> windows;
    for (const StepSpan& step : steps.steps) {
        StepSummary& summary = worker.steps.emplace_back();
        summary.number = step.number;
        summary.name = step.name;
        summary.startNs = step.range.startNs;
        summary.wallNs = step.range.durationNs();
        if (!step.onCpu.isEmpty()) summary.onCpuNs = step.onCpu.durationNs();
        windows.push_back(step.range);
    }
    const WorkerTimeline timeline(run, steps);
    if (!timeline.work().empty()) {
        int64_t untilNs = timeline.work().front().endNs;
        for (const GpuWork& work : timeline.work()) untilNs = std::max(untilNs, work.endNs);
        worker.workNs = untilNs - timeline.work().front().startNs;
    }
    std::vector<Contributor> contributors = timeline.contributors();
    timeline.split(windows, [&](uint32_t step, StepPart part, int64_t ns, uint32_t contributor) {
        worker.steps[step].parts[part] += ns;
        contributors[contributor].exposedNs += ns;
        if (isIdle(part)) ++contributors[contributor].count;
    });
    WorkPlaces places(run.trace, sources.places);
    countWork(run, timeline.work(), steps, contributors, places);
    addRanAndWaited(run, timeline, windows, contributors);
    for (Contributor& contributor : contributors)
        if (isIdle(contributor.part)) contributor.totalNs = contributor.exposedNs;
    findOutliers(timeline, contributors, worker);
    worker.pauses = pausesBetween(windows, timeline.work());
    if (run.stepKind == StepKind::Request) worker.rest = restBetween(run, windows, timeline.work());
    addConditions(sources.counters, steps.gpu, windows, worker);
    worker.coreWaits = coreWaits(run.trace, run.states, sources.threads.of(steps.process), windows);
    worker.loaders = loaderTimes(run.states, sources.loaders.of(steps.process), windows);
    worker.launches = launchTimes(run.trace, windows, timeline.work(), places);
    worker.contributors = heaviest(std::move(contributors));
    return worker;
}

}  // namespace lanescope::compare
