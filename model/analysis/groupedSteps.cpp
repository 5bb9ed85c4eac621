// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/groupedSteps.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/analysis/kernelPattern.h"
#include "model/analysis/rangePattern.h"
#include "model/trace/LaunchLinks.h"

namespace lanescope {

namespace {

constexpr std::array<std::string_view, 5> batchWords{"batch", "minibatch", "microbatch", "micro", "accumulation"};
constexpr std::array<std::string_view, 3> microWords{"microbatch", "micro", "accumulation"};
constexpr size_t minUpdates = 3;
/// Required share of equal distances between updates, in batches.
constexpr double minAlikeShare = 0.9;

template <size_t Size>
bool hasAnyWord(std::string_view pattern, const std::array<std::string_view, Size>& known) {
    for (const std::string& word : wordsOf(pattern))
        if (std::find(known.begin(), known.end(), word) != known.end()) return true;
    return false;
}

bool areBatches(std::string_view pattern) { return hasAnyWord(pattern, batchWords); }
bool isMicroBatch(std::string_view pattern) { return hasAnyWord(pattern, microWords); }

/// Returns true if units of the pattern may be parts of a step. Ranges that the program calls steps are its steps.
bool canBeParts(const RunSteps& run) {
    if (run.source == StepSource::KernelPattern || run.source == StepSource::PythonLoop) return true;
    if (run.source != StepSource::NvtxRange || run.kind == StepKind::Request) return false;
    return areBatches(run.pattern) || stepNamingOf(run.pattern) == StepNaming::Nothing;
}

/// Configurations that launch optimizer kernels, by index.
std::vector<bool> updatingConfigs(const Trace& trace) {
    std::vector<bool> isUpdate;
    for (const LaunchConfig& config : trace.launchConfigs)
        isUpdate.push_back(
            isOptimizerKernel(trace.strings.at(config.demangledName != 0 ? config.demangledName : config.shortName)));
    return isUpdate;
}

/// Times at which optimizer kernels were launched, or ran.
enum class UpdateTime : uint8_t { OfLaunch, OnGpu };

/// Returns these times by process, in order.
std::vector<std::vector<int64_t>> updatesOf(const Trace& trace, UpdateTime time) {
    std::vector<std::vector<int64_t>> updates(trace.processes.size());
    const std::vector<bool> isUpdate = updatingConfigs(trace);
    if (std::none_of(isUpdate.begin(), isUpdate.end(), [](bool each) { return each; })) return updates;
    const LaunchRows calls(trace);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        if (!isUpdate[trace.kernels.config[row]]) continue;
        const uint32_t call = calls.ofKernel[row];
        if (time == UpdateTime::OnGpu)
            updates[trace.streams[trace.kernels.stream[row]].process].push_back(trace.kernels.startNs[row]);
        else if (call != noIndex)
            updates[trace.threads[trace.apiCalls.thread[call]].process].push_back(trace.apiCalls.startNs[call]);
    }
    for (std::vector<int64_t>& each : updates) std::sort(each.begin(), each.end());
    return updates;
}

/// Returns the time that decides to which step a launch or a kernel belongs.
TimeRange spanOf(const StepSpan& step) { return step.launches.isEmpty() ? step.range : step.launches; }

bool holdsAny(const std::vector<int64_t>& timesNs, TimeRange range) {
    const auto first = std::lower_bound(timesNs.begin(), timesNs.end(), range.startNs);
    return first != timesNs.end() && *first < range.endNs;
}

/// Returns the indices of the batches in which weights are updated.
std::vector<size_t> updatingSteps(const std::vector<StepSpan>& steps, const std::vector<int64_t>& updatesNs) {
    std::vector<size_t> places;
    for (size_t place = 0; place < steps.size(); ++place) {
        if (holdsAny(updatesNs, spanOf(steps[place]))) places.push_back(place);
    }
    return places;
}

/// Returns the number of batches between two updates; 1 if irregular.
size_t batchesPerUpdate(const std::vector<size_t>& places) {
    if (places.size() < minUpdates) return 1;
    std::vector<size_t> distances;
    for (size_t index = 1; index < places.size(); ++index) distances.push_back(places[index] - places[index - 1]);
    std::sort(distances.begin(), distances.end());
    const size_t usual = distances[distances.size() / 2];
    const auto alike = std::count(distances.begin(), distances.end(), usual);
    return static_cast<double>(alike) >= minAlikeShare * static_cast<double>(distances.size()) ? usual : 1;
}

bool followEachOther(const std::vector<StepSpan>& steps, size_t first, size_t last) {
    for (size_t place = first; place < last; ++place)
        if (spanOf(steps[place]).endNs != spanOf(steps[place + 1]).startNs) return false;
    return true;
}

/// Joins this many batches up to each update into one step, unless something else is between them.
std::vector<StepSpan> mergedSteps(const WorkerSteps& worker, const std::vector<size_t>& places, size_t count) {
    std::vector<StepSpan> grouped;
    for (const size_t last : places) {
        if (last + 1 < count) continue;
        const size_t first = last + 1 - count;
        if (!followEachOther(worker.steps, first, last)) continue;
        StepSpan step = worker.steps[first];
        if (!grouped.empty() && spanOf(step).startNs < spanOf(grouped.back()).endNs) continue;
        const StepSpan& end = worker.steps[last];
        step.number = static_cast<int64_t>(grouped.size());
        step.range.endNs = end.range.endNs;
        step.launches.endNs = end.launches.endNs;
        step.onCpu.endNs = end.onCpu.endNs;
        grouped.push_back(std::move(step));
    }
    return grouped;
}

void replaceSteps(WorkerSteps& worker, std::vector<StepSpan> grouped, size_t lastUpdate, size_t count) {
    worker.isLastLeftOut = worker.isLastLeftOut || lastUpdate + 1 < worker.steps.size();
    worker.steps = std::move(grouped);
    worker.foundCount =
        std::max(worker.foundCount / static_cast<int64_t>(count), static_cast<int64_t>(worker.steps.size()));
}

/// Returns the indices of the ranges after which the numbers in the names begin again, as those of layers.
std::vector<size_t> endsOfCounts(const std::vector<StepSpan>& steps) {
    std::vector<size_t> places;
    int64_t before = -1;
    for (size_t place = 0; place < steps.size(); ++place) {
        const std::string_view name = steps[place].name;
        const auto number = ownNumbers({&name, 1});
        if (!number) return {};
        if (number->front() <= before) places.push_back(place - 1);
        before = number->front();
    }
    return places;
}

using Ends = std::vector<std::vector<size_t>>;

/// Groups the units of each worker up to these ends, if they are equally far from each other in all workers.
bool groupUpTo(RunSteps& run, const Ends& ends) {
    size_t count = 0;
    for (const std::vector<size_t>& ofWorker : ends) {
        const size_t here = batchesPerUpdate(ofWorker);
        if (here < 2 || (count != 0 && here != count)) return false;
        count = here;
    }
    std::vector<std::vector<StepSpan>> grouped;
    for (size_t worker = 0; worker < run.workers.size(); ++worker) {
        grouped.push_back(mergedSteps(run.workers[worker], ends[worker], count));
        if (grouped.back().empty()) return false;
    }
    run.units.insert(run.units.begin(), {run.source, run.pattern, run.workers.front().foundCount});
    run.rangesPerStep = static_cast<int64_t>(count);
    for (size_t worker = 0; worker < run.workers.size(); ++worker)
        replaceSteps(run.workers[worker], std::move(grouped[worker]), ends[worker].back(), count);
    return true;
}

}  // namespace

void groupParts(const Trace& trace, RunSteps& run) {
    if (run.workers.empty() || !canBeParts(run)) return;
    const auto updates =
        updatesOf(trace, run.source == StepSource::KernelPattern ? UpdateTime::OnGpu : UpdateTime::OfLaunch);
    Ends ends;
    for (const WorkerSteps& worker : run.workers) ends.push_back(updatingSteps(worker.steps, updates[worker.process]));
    if (groupUpTo(run, ends) || run.source != StepSource::NvtxRange) return;
    // Batches may be counted anew in every epoch.
    if (areBatches(run.pattern) && !isMicroBatch(run.pattern)) return;
    ends.clear();
    for (const WorkerSteps& worker : run.workers) ends.push_back(endsOfCounts(worker.steps));
    groupUpTo(run, ends);
}

WeightUpdates::WeightUpdates(const Trace& trace) : timesNs_(updatesOf(trace, UpdateTime::OfLaunch)) {}

double WeightUpdates::shareOf(const StepMarks& marks) const {
    if (marks.marks.empty()) return 0;
    const auto with = std::ranges::count_if(
        marks.marks, [&](const StepMark& mark) { return holdsAny(timesNs_[marks.process], mark.range); });
    return static_cast<double>(with) / static_cast<double>(marks.marks.size());
}

}  // namespace lanescope
