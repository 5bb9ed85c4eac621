// SPDX-License-Identifier: Apache-2.0
#include "model/steps/accumulatedSteps.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/steps/nameWords.h"
#include "model/trace/LaunchLinks.h"

namespace lanescope {

namespace {

constexpr std::array<std::string_view, 5> batchWords{"batch", "minibatch", "microbatch", "micro",
                                                     "accumulation"};
constexpr std::array<std::string_view, 5> optimizerKernels{"multi_tensor_apply_kernel", "Adam",
                                                           "adam", "SGD", "sgd_"};
/// Norms of gradients are computed by the same kernel, also to be printed.
constexpr std::string_view normKernel = "LpNorm";
constexpr size_t fewestUpdates = 3;
/// Of the distances between updates, in batches.
constexpr double leastAlike = 0.9;

bool areBatches(std::string_view pattern) {
    for (const std::string& word : wordsOf(pattern))
        if (std::find(batchWords.begin(), batchWords.end(), word) != batchWords.end()) return true;
    return false;
}

bool isOptimizer(std::string_view kernel) {
    return kernel.find(normKernel) == std::string_view::npos &&
           std::any_of(optimizerKernels.begin(), optimizerKernels.end(),
                       [kernel](std::string_view part) {
                           return kernel.find(part) != std::string_view::npos;
                       });
}

/// When the calls that launch kernels of optimizers began, by process, in order.
std::vector<std::vector<int64_t>> updatesOf(const Trace& trace) {
    std::vector<std::vector<int64_t>> updates(trace.processes.size());
    std::vector<bool> isUpdate;
    for (const LaunchConfig& config : trace.launchConfigs)
        isUpdate.push_back(isOptimizer(
            trace.strings.at(config.demangledName != 0 ? config.demangledName : config.shortName)));
    const LaunchRows calls(trace);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        const uint32_t call = calls.ofKernel[row];
        if (call == noIndex || !isUpdate[trace.kernels.config[row]]) continue;
        updates[trace.threads[trace.apiCalls.thread[call]].process].push_back(
            trace.apiCalls.startNs[call]);
    }
    for (std::vector<int64_t>& each : updates) std::sort(each.begin(), each.end());
    return updates;
}

/// The places of the batches in which weights are updated.
std::vector<size_t> updatingSteps(const std::vector<StepSpan>& steps,
                                  const std::vector<int64_t>& updatesNs) {
    std::vector<size_t> places;
    for (size_t place = 0; place < steps.size(); ++place) {
        const TimeRange launched = steps[place].launches;
        const auto first = std::lower_bound(updatesNs.begin(), updatesNs.end(), launched.startNs);
        if (first != updatesNs.end() && *first < launched.endNs) places.push_back(place);
    }
    return places;
}

/// How many batches lie between two updates; 1 if that is not so regular.
size_t batchesPerUpdate(const std::vector<size_t>& places) {
    if (places.size() < fewestUpdates) return 1;
    std::vector<size_t> distances;
    for (size_t index = 1; index < places.size(); ++index)
        distances.push_back(places[index] - places[index - 1]);
    std::sort(distances.begin(), distances.end());
    const size_t usual = distances[distances.size() / 2];
    const auto alike = std::count(distances.begin(), distances.end(), usual);
    return static_cast<double>(alike) >= leastAlike * static_cast<double>(distances.size()) ? usual
                                                                                            : 1;
}

bool followEachOther(const std::vector<StepSpan>& steps, size_t first, size_t last) {
    for (size_t place = first; place < last; ++place)
        if (steps[place].launches.endNs != steps[place + 1].launches.startNs) return false;
    return true;
}

/// So many batches up to each update as one step, but where something else lies between them.
std::vector<StepSpan> joinedSteps(const WorkerSteps& worker, const std::vector<size_t>& places,
                                  size_t count) {
    std::vector<StepSpan> joined;
    for (const size_t last : places) {
        if (last + 1 < count) continue;
        const size_t first = last + 1 - count;
        if (!followEachOther(worker.steps, first, last)) continue;
        StepSpan step = worker.steps[first];
        if (!joined.empty() && step.launches.startNs < joined.back().launches.endNs) continue;
        const StepSpan& end = worker.steps[last];
        step.number = static_cast<int64_t>(joined.size());
        step.range.endNs = end.range.endNs;
        step.launches.endNs = end.launches.endNs;
        step.onCpu.endNs = end.onCpu.endNs;
        joined.push_back(std::move(step));
    }
    return joined;
}

void replaceSteps(WorkerSteps& worker, std::vector<StepSpan> joined, size_t lastUpdate,
                  size_t count) {
    worker.isLastLeftOut = worker.isLastLeftOut || lastUpdate + 1 < worker.steps.size();
    worker.steps = std::move(joined);
    worker.foundCount = std::max(worker.foundCount / static_cast<int64_t>(count),
                                 static_cast<int64_t>(worker.steps.size()));
}

}  // namespace

void joinAccumulated(const Trace& trace, RunSteps& run) {
    if (run.source != StepSource::NvtxRange || !areBatches(run.pattern) || run.workers.empty())
        return;
    const std::vector<std::vector<int64_t>> updates = updatesOf(trace);
    std::vector<std::vector<size_t>> places;
    size_t count = 0;
    for (const WorkerSteps& worker : run.workers) {
        places.push_back(updatingSteps(worker.steps, updates[worker.process]));
        const size_t here = batchesPerUpdate(places.back());
        if (here < 2 || (count != 0 && here != count)) return;
        count = here;
    }
    std::vector<std::vector<StepSpan>> joined;
    for (size_t worker = 0; worker < run.workers.size(); ++worker) {
        joined.push_back(joinedSteps(run.workers[worker], places[worker], count));
        if (joined.back().empty()) return;
    }
    run.rangesPerStep = static_cast<int64_t>(count);
    for (size_t worker = 0; worker < run.workers.size(); ++worker)
        replaceSteps(run.workers[worker], std::move(joined[worker]), places[worker].back(), count);
}

}  // namespace lanescope
