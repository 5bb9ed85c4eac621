// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/replaySteps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "model/analysis/ThreadActivities.h"
#include "model/analysis/WorkerTimeline.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/kernelFamilies.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/stacks.h"

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

std::string_view name(PathPart part) {
    return enumText(part, {"host", "loader", "unknown wait", "call", "kernel", "collective", "copy", "memset", "graph",
                           "delay", "delay", "delay"});
}

std::string_view identifier(PathPart part) {
    return enumText(part, {"host", "loader", "unknown_wait", "call", "kernel", "collective", "copy", "memset", "graph",
                           "launch_delay", "return_delay", "work_delay"});
}

std::string_view PathTime::shownName() const {
    switch (part) {
        case PathPart::LaunchDelay: return "from launch to start";
        case PathPart::ReturnDelay: return "return from waiting";
        case PathPart::WorkDelay: return "between GPU work";
        default: return name;
    }
}

std::string PathTime::process() const { return rank ? fmt::format("rank {}", *rank) : fmt::format("PID {}", pid); }

namespace {

using causality::EdgeKind;
using causality::NodeKind;

PathPart partOf(EdgeKind delay) {
    switch (delay) {
        case EdgeKind::Launch:
        case EdgeKind::GraphLaunch: return PathPart::LaunchDelay;
        case EdgeKind::Wait:
        case EdgeKind::Copied:
        case EdgeKind::Queue: return PathPart::ReturnDelay;
        default: return PathPart::WorkDelay;
    }
}

PathTime timeOf(const Trace& trace, const causality::NodeGroup& group, const causality::PathShare& share) {
    PathTime time{.rank = trace.processes[group.process].rank, .pid = trace.processes[group.process].pid};
    if (group.stack != noIndex) time.line = placeText(trace, group.stack);
    if (share.delay) {
        time.part = partOf(*share.delay);
        return time;
    }
    switch (group.kind) {
        case NodeKind::Host:
            time.part = group.isLoading ? PathPart::Loader : group.isUnknown ? PathPart::UnknownWait : PathPart::Host;
            break;
        case NodeKind::Arrival: time.part = PathPart::Loader; break;
        case NodeKind::Call:
        case NodeKind::Return:
            time.part = PathPart::Call;
            time.name = trace.strings.at(group.name);
            break;
        case NodeKind::Kernel: {
            const std::string_view kernel = trace.strings.at(trace.launchConfigs.demangledName(group.name));
            time.part = trace.launchConfigs.isCollective(group.name) ? PathPart::Collective : PathPart::Kernel;
            time.name = lanescope::name(kernelClass(kernel).family);
            break;
        }
        case NodeKind::Collective:
        case NodeKind::Entered:
            time.part = PathPart::Collective;
            time.name = trace.strings.at(trace.launchConfigs.collective(group.name));
            break;
        case NodeKind::Copy:
            time.part = PathPart::Copy;
            time.name = lanescope::name(static_cast<MemcpyKind>(group.name));
            break;
        case NodeKind::Memset: time.part = PathPart::Memset; break;
        case NodeKind::Graph: time.part = PathPart::Graph; break;
    }
    return time;
}

}  // namespace

std::vector<PathTime> pathTimes(const Trace& trace, const causality::StepReplay& replay) {
    std::map<std::tuple<PathPart, uint32_t, std::string, std::string>, PathTime> sums;
    for (const causality::PathShare& share : replay.path()) {
        const causality::NodeGroup& group = replay.graph().groups[share.group];
        const PathTime time = timeOf(trace, group, share);
        PathTime& sum = sums.try_emplace({time.part, group.process, time.name, time.line}, time).first->second;
        sum.count += static_cast<double>(share.count);
        sum.ns += share.ns;
    }
    std::vector<PathTime> times;
    for (auto& [key, sum] : sums) times.push_back(std::move(sum));
    std::ranges::stable_sort(times, std::greater(), &PathTime::ns);
    return times;
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

void addSlowedSteps(const Trace& trace, const WorkerSteps& worker, const causality::CausalGraph& graph,
                    TimeRange window, const std::set<std::string_view>& calls, int64_t periodNs, SlowedSteps& pairs) {
    constexpr size_t minCountedSteps = 3;
    std::vector<int64_t> callsNs(worker.steps.size()), hostNs(worker.steps.size());
    const auto add = [&worker](std::vector<int64_t>& sums, int64_t startNs, int64_t ns) {
        if (const uint32_t step = worker.stepOf(startNs, startNs); step < sums.size()) sums[step] += ns;
    };
    const ApiTable& all = trace.apiCalls;
    for (uint32_t row = 0; row < all.size(); ++row)
        if (trace.threads[all.thread[row]].process == worker.process && calls.contains(trace.strings.at(all.name[row])))
            add(callsNs, all.startNs[row], all.endNs[row] - all.startNs[row]);
    for (causality::CausalGraph::Node node = 0; node < graph.size(); ++node)
        if (const causality::NodeGroup& group = graph.groups[graph.group[node]];
            group.kind == NodeKind::Host && group.process == worker.process && !group.isUnknown && !group.isLoading)
            add(hostNs, graph.startNs[node], graph.ownNs[node]);
    struct Interval {
        std::vector<int64_t> stepsNs, callsNs, hostNs;
    };
    std::map<int64_t, Interval> intervals;
    for (size_t index = 0; index < worker.steps.size(); ++index) {
        const StepSpan& step = worker.steps[index];
        const TimeRange launches = step.launches.isEmpty() ? step.range : step.launches;
        const int64_t startNs = trace.startUtcNs + launches.startNs;
        const int64_t endNs = trace.startUtcNs + step.range.endNs, number = startNs / periodNs;
        if (startNs % periodNs < periodNs / 2 || endNs / periodNs != number) continue;
        Interval& interval = intervals[number];
        interval.stepsNs.push_back(step.range.durationNs());
        interval.callsNs.push_back(callsNs[index]);
        if (launches.startNs >= window.startNs && step.range.endNs <= window.endNs)
            interval.hostNs.push_back(hostNs[index]);
    }
    const auto growth = [](std::span<int64_t> from, std::span<int64_t> to) {
        return std::llround(statisticsOf(to).average - statisticsOf(from).average);
    };
    const auto isEnough = [](const std::vector<int64_t>& plain, const std::vector<int64_t>& slowed) {
        return std::min(plain.size(), slowed.size()) >= minCountedSteps;
    };
    for (auto& [number, plain] : intervals) {
        const auto next = intervals.find(number + 1);
        if (number % 2 != 0 || next == intervals.end()) continue;
        Interval& slowed = next->second;
        if (!isEnough(plain.stepsNs, slowed.stepsNs)) continue;
        pairs.growthsNs.push_back(growth(plain.stepsNs, slowed.stepsNs));
        pairs.addedNs.push_back(growth(plain.callsNs, slowed.callsNs));
        if (!isEnough(plain.hostNs, slowed.hostNs)) continue;
        pairs.plainHostNs += statisticsOf(plain.hostNs).average;
        pairs.slowedHostNs += statisticsOf(slowed.hostNs).average;
    }
}

MeasuredGrowth measuredGrowth(const SlowedSteps& pairs) {
    std::vector<int64_t> growthsNs = pairs.growthsNs, addedNs = pairs.addedNs, restsNs = pairs.growthsNs;
    const Statistics growth = statisticsOf(growthsNs);
    MeasuredGrowth all{growth.count, growth.average, statisticsOf(addedNs).average};
    if (growth.count < 2) return all;
    const double slope = all.addedNs != 0 ? growth.average / all.addedNs : 0;
    for (size_t pair = 0; pair < restsNs.size(); ++pair)
        restsNs[pair] -= std::llround(slope * static_cast<double>(pairs.addedNs[pair]));
    const double factor = studentTFor(0.95, growth.count - 1) / std::sqrt(static_cast<double>(growth.count));
    all.marginNs = factor * growth.standardDeviation;
    all.slopeMarginNs = factor * statisticsOf(restsNs).standardDeviation;
    return all;
}

}  // namespace lanescope::analysis
