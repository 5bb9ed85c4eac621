// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/requestSteps.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <unordered_map>
#include <utility>

#include "model/analysis/kernelPattern.h"
#include "model/analysis/stepRanges.h"
#include "model/numbers/MixedMap.h"
#include "model/numbers/Statistics.h"
#include "model/text/collectiveKernels.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

constexpr std::array<std::string_view, 5> batchWords{"batch", "minibatch", "microbatch", "micro", "accumulation"};
constexpr std::array<std::string_view, 3> microWords{"microbatch", "micro", "accumulation"};
constexpr size_t minUpdates = 3;
/// Required share of equal distances between updates, in batches.
constexpr double minAlikeShare = 0.9;

bool areBatches(std::string_view pattern) { return hasWord(pattern, batchWords); }
bool isMicroBatch(std::string_view pattern) { return hasWord(pattern, microWords); }

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
    if (std::ranges::none_of(isUpdate, [](bool each) { return each; })) return updates;
    const LaunchRows calls(trace);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        if (!isUpdate[trace.kernels.config[row]]) continue;
        const uint32_t call = calls.ofKernel[row];
        if (time == UpdateTime::OnGpu)
            updates[trace.streams[trace.kernels.stream[row]].process].push_back(trace.kernels.startNs[row]);
        else if (call != noIndex)
            updates[trace.threads[trace.apiCalls.thread[call]].process].push_back(trace.apiCalls.startNs[call]);
    }
    for (std::vector<int64_t>& each : updates) std::ranges::sort(each);
    return updates;
}

/// Returns the time range by which launches and kernels belong to a step.
TimeRange spanOf(const StepSpan& step) { return step.launches.isEmpty() ? step.range : step.launches; }

bool holdsAny(const std::vector<int64_t>& timesNs, TimeRange range) {
    const auto first = std::ranges::lower_bound(timesNs, range.startNs);
    return first != timesNs.end() && *first < range.endNs;
}

/// Returns the indices of the batches in which weights are updated.
std::vector<size_t> updatingSteps(const std::vector<StepSpan>& steps, const std::vector<int64_t>& updatesNs) {
    std::vector<size_t> places;
    for (size_t place = 0; place < steps.size(); ++place)
        if (holdsAny(updatesNs, spanOf(steps[place]))) places.push_back(place);
    return places;
}

/// Returns the number of batches between two updates; 1 if irregular.
size_t batchesPerUpdate(const std::vector<size_t>& places) {
    if (places.size() < minUpdates) return 1;
    std::vector<size_t> distances;
    for (size_t index = 1; index < places.size(); ++index) distances.push_back(places[index] - places[index - 1]);
    std::ranges::sort(distances);
    const size_t usual = distances[distances.size() / 2];
    const auto alike = std::ranges::count(distances, usual);
    return static_cast<double>(alike) >= minAlikeShare * static_cast<double>(distances.size()) ? usual : 1;
}

bool followEachOther(const std::vector<StepSpan>& steps, size_t first, size_t last) {
    for (size_t place = first; place < last; ++place)
        if (spanOf(steps[place]).endNs != spanOf(steps[place + 1]).startNs) return false;
    return true;
}

/// Joins the `count` batches up to each update into one step, unless other work is between them.
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

constexpr std::array<std::string_view, 4> requestWords{"request", "requests", "req", "query"};
/// Names of a loop's parts. A wait of such a loop is no evidence for a server.
constexpr std::array<std::string_view, 10> loopWords{"step",  "steps",   "iter",      "iteration", "iterations",
                                                     "batch", "batches", "minibatch", "epoch",     "rollout"};
constexpr std::array<std::string_view, 10> trainingWords{"backward",  "optimizer", "optim",    "grad",  "gradient",
                                                         "gradients", "train",     "training", "wgrad", "dgrad"};
/// Parts of names of kernels that run only in training.
constexpr std::array<std::string_view, 8> trainingKernels{"ackward", "Adam",  "adam",  "SGD",
                                                          "sgd_",    "wgrad", "dgrad", "transpose(jvp"};
constexpr std::string_view autogradThread = "pt_autograd";
/// Files in which data loaders wait for their workers.
constexpr std::array<std::string_view, 3> loaderFiles{"utils/data/", "python/data/", "dataloader"};

constexpr size_t minBoundaries = 5;
constexpr double minWaitedShare = 0.6;       ///< Share of the time between requests.
constexpr double minWaitedShareOfAll = 0.1;  ///< Share of the time of all requests and between.
constexpr double maxOthersRunShare = 0.25;   ///< Share of that time, for all other threads together.
/// Periods are irregular if the difference of their 90th and 10th percentile is at least this multiple of the median.
constexpr double minSpread = 0.25;
/// Number of pauses examined for activity of other threads; fewer with very many threads, up to the total of queries.
constexpr size_t maxExaminedPauses = 4096, maxQueries = 20'000'000;
constexpr size_t maxFrames = 64;

bool hasAnyOf(std::string_view text, std::span<const std::string_view> parts) {
    return std::ranges::any_of(parts, [text](std::string_view part) { return text.find(part) != text.npos; });
}

bool hasTrainingRange(const Trace& trace) {
    std::vector<bool> isKnown(trace.strings.size());
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
        const StringIndex text = trace.nvtx.text[row];
        if (text >= isKnown.size() || isKnown[text]) continue;
        isKnown[text] = true;
        if (hasWord(trace.strings.at(text), trainingWords)) return true;
    }
    return false;
}

bool hasTrainingKernel(const Trace& trace) {
    return std::ranges::any_of(trace.launchConfigs, [&](const LaunchConfig& config) {
        const std::string_view name =
            trace.strings.at(config.demangledName != 0 ? config.demangledName : config.shortName);
        return hasAnyOf(name, trainingKernels) || isGradientCollective(name);
    });
}

/// Work of one worker, by start.
struct Work {
    int64_t startNs = 0, endNs = 0;
    uint32_t thread = noIndex;  ///< The launching thread.
};

/// The time from the last work of a step to the first of the next.
struct Boundary {
    TimeRange idle;
    uint32_t thread = noIndex;
    size_t step = 0;  ///< The worker's step before it.
};

class RequestTeller {
  public:
    RequestTeller(const Trace& trace, RunSteps& run) : trace_(trace), run_(run), states_(trace) {}

    void tell() {
        gatherWork();
        for (size_t worker = 0; worker < run_.workers.size(); ++worker) {
            // Pauses of one GPU do not overlap, but those of several GPUs of a process do.
            ProvenWaits waits(trace_, states_);
            findBoundaries(worker, waits);
            waitedNs_ = saturatingSum(waitedNs_, waits.outsideNs());
        }
        if (!areRequests()) return;
        run_.kind = StepKind::Request;
        for (size_t worker = 0; worker < run_.workers.size(); ++worker)
            for (const Boundary& each : boundaries_[worker]) endAt(worker, each);
    }

  private:
    void gatherWork() {
        work_.resize(run_.workers.size());
        boundaries_.resize(run_.workers.size());
        MixedMap<uint64_t, uint32_t> workerOf;
        for (uint32_t worker = 0; worker < run_.workers.size(); ++worker)
            workerOf.try_emplace(uint64_t{run_.workers[worker].process} << 32 | run_.workers[worker].gpu, worker);
        forEachLaunchedWork(trace_, [&](const LaunchedWork& work) {
            const uint32_t process =
                visitKind(work.work.kind(), [&](auto each) { return each.processOf(trace_, work.work.row()); });
            const auto worker = workerOf.find(uint64_t{process} << 32 | work.gpu);
            if (worker == workerOf.end()) return;
            work_[worker->second].push_back({work.times.startNs, work.times.endNs,
                                             work.call == noIndex ? noIndex : trace_.apiCalls.thread[work.call]});
        });
        for (std::vector<Work>& each : work_)
            std::ranges::sort(each, {}, [](const Work& work) { return std::pair(work.startNs, work.endNs); });
    }

    void findBoundaries(size_t worker, ProvenWaits& waits) {
        const std::vector<StepSpan>& steps = run_.workers[worker].steps;
        auto next = work_[worker].begin();
        int64_t busyUntilNs = next == work_[worker].end() ? 0 : next->startNs;
        // Also after the last one: the following time is no step, but the awaited one.
        for (size_t step = 0; step < steps.size(); ++step) {
            for (; next != work_[worker].end() && next->startNs < steps[step].range.endNs; ++next)
                busyUntilNs = std::max(busyUntilNs, next->endNs);
            if (next == work_[worker].end()) return;
            const int64_t nextNs = step + 1 < steps.size() ? steps[step + 1].range.startNs : next->startNs;
            periodsNs_.push_back(nextNs - steps[step].range.startNs);
            allNs_ = saturatingSum(allNs_, periodsNs_.back());
            if (next->startNs <= busyUntilNs) continue;
            Boundary boundary{{busyUntilNs, next->startNs}, next->thread, step};
            if (boundary.thread == noIndex) boundary.thread = run_.workers[worker].stepThread;
            if (boundary.thread != noIndex && !states_.isEmpty(boundary.thread) && !isInLoader(boundary))
                waits.add(boundary.thread, boundary.idle);
            boundaries_[worker].push_back(boundary);
        }
    }

    /// Returns true if samples saw the thread where a data loader waits for its workers.
    bool isInLoader(const Boundary& boundary) {
        bool isLoader = false;
        states_.forEachIn(boundary.thread, boundary.idle, [&](uint32_t row, TimeRange) {
            if (isLoader) return;
            const uint32_t stack = trace_.cpuStates.stack[row];
            const auto [known, isNew] = isLoader_.try_emplace(stack, false);
            if (isNew) known->second = isInLoader(stack);
            isLoader = known->second;
        });
        return isLoader;
    }

    bool isInLoader(uint32_t stack) const {
        return std::ranges::any_of(framesOf(trace_, stack) | std::views::take(maxFrames), [this](uint32_t frame) {
            return hasAnyOf(trace_.strings.at(trace_.stacks.file[frame]), loaderFiles);
        });
    }

    bool areRequests() const {
        int64_t idleNs = 0;
        size_t count = 0;
        for (const std::vector<Boundary>& ofWorker : boundaries_) {
            for (const Boundary& each : ofWorker) idleNs = saturatingSum(idleNs, each.idle.durationNs());
            count += ofWorker.size();
        }
        const auto waitedNs = static_cast<double>(waitedNs_);
        return count >= minBoundaries && waitedNs >= minWaitedShare * static_cast<double>(idleNs) &&
               waitedNs >= minWaitedShareOfAll * static_cast<double>(allNs_) && areIrregular() && didOthersRest();
    }

    bool areIrregular() const {
        const double spreadNs = quantileOf(periodsNs_, 0.9) - quantileOf(periodsNs_, 0.1);
        return spreadNs >= minSpread * quantileOf(periodsNs_, 0.5);
    }

    bool didOthersRest() const {
        std::vector<uint32_t> threads;
        for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread)
            if (!states_.isEmpty(thread)) threads.push_back(thread);
        size_t left = std::clamp(maxQueries / std::max<size_t>(threads.size(), 1), minBoundaries, maxExaminedPauses);
        int64_t idleNs = 0, workedNs = 0;
        for (const std::vector<Boundary>& ofWorker : boundaries_) {
            const auto pauses = std::span(ofWorker).first(std::min(ofWorker.size(), left));
            left -= pauses.size();
            if (pauses.empty()) continue;
            for (const Boundary& each : pauses) idleNs = saturatingSum(idleNs, each.idle.durationNs());
            for (const uint32_t thread : threads) {
                ProvenWaits others(trace_, states_);
                for (const Boundary& each : pauses)
                    if (each.thread != thread) others.add(thread, each.idle);
                workedNs = saturatingSum(workedNs, others.workedNs());
            }
        }
        return static_cast<double>(workedNs) <= maxOthersRunShare * static_cast<double>(idleNs);
    }

    void endAt(size_t worker, const Boundary& boundary) {
        TimeRange& range = run_.workers[worker].steps[boundary.step].range;
        range.endNs = std::clamp(boundary.idle.startNs, range.startNs, range.endNs);
    }

    const Trace& trace_;
    RunSteps& run_;
    const StatesOfThreads states_;
    int64_t waitedNs_ = 0;  ///< Total of all pauses.
    std::unordered_map<uint32_t, bool> isLoader_;
    std::vector<std::vector<Work>> work_;            ///< By worker.
    std::vector<std::vector<Boundary>> boundaries_;  ///< By worker.
    std::vector<int64_t> periodsNs_;
    int64_t allNs_ = 0;
};

}  // namespace

void groupParts(const Trace& trace, RunSteps& run) {
    if (run.workers.empty() || !canBeParts(run)) return;
    const auto updates =
        updatesOf(trace, run.source == StepSource::KernelPattern ? UpdateTime::OnGpu : UpdateTime::OfLaunch);
    Ends ends;
    for (const WorkerSteps& worker : run.workers) ends.push_back(updatingSteps(worker.steps, updates[worker.process]));
    if (groupUpTo(run, ends) || run.source != StepSource::NvtxRange) return;
    // Batch numbers may start at 0 again in each epoch.
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

bool isTraining(const Trace& trace) {
    const auto sums = [&trace](StringIndex operation) {
        const std::string_view name = trace.strings.at(operation);
        return name == "AllReduce" || name == "ReduceScatter";
    };
    for (uint32_t row = 0; row < trace.nccl.size(); ++row)
        if (sums(trace.nccl.operation[row])) return true;
    for (const Thread& thread : trace.threads)
        if (thread.name.starts_with(autogradThread)) return true;
    return hasTrainingKernel(trace) || hasTrainingRange(trace);
}

bool isRequestName(std::string_view pattern) { return hasWord(pattern, requestWords); }

bool areRequestsNamed(const Trace& trace, std::string_view pattern) {
    return isRequestName(pattern) && !isTraining(trace);
}

void markRequests(const Trace& trace, RunSteps& run) {
    if (run.source == StepSource::WholeRun || run.source == StepSource::Chosen) return;
    if (run.kind == StepKind::Request || trace.cpuStates.size() == 0 || isTraining(trace)) return;
    if (run.source == StepSource::NvtxRange && hasWord(run.pattern, loopWords)) return;
    RequestTeller(trace, run).tell();
}

}  // namespace lanescope
