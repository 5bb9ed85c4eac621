// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepSelection.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/analysis/WorkerLaunches.h"
#include "model/analysis/rangePattern.h"
#include "model/analysis/requestSteps.h"
#include "model/analysis/stepRanges.h"
#include "model/numbers/Statistics.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Joins the batches that a program marks into steps if it updates its weights only after every n of them: if the
/// ranges are called batches, and optimizer kernels are launched in every n-th of them only, in all workers alike.
/// Batches before the first and after the last whole step are skipped. O(n log n) in the kernels.
void joinAccumulated(const Trace& trace, RunSteps& run);

namespace {

constexpr std::array<std::string_view, 5> batchWords{"batch", "minibatch", "microbatch", "micro", "accumulation"};
constexpr std::array<std::string_view, 5> optimizerKernels{"multi_tensor_apply_kernel", "Adam", "adam", "SGD", "sgd_"};
/// The same kernel computes norms of gradients, also for printing.
constexpr std::string_view normKernel = "LpNorm";
constexpr size_t minUpdates = 3;
/// Required share of equal distances between updates, in batches.
constexpr double minAlikeShare = 0.9;

bool areBatches(std::string_view pattern) {
    for (const std::string& word : wordsOf(pattern))
        if (std::find(batchWords.begin(), batchWords.end(), word) != batchWords.end()) return true;
    return false;
}

bool isOptimizer(std::string_view kernel) {
    return kernel.find(normKernel) == std::string_view::npos &&
           std::any_of(optimizerKernels.begin(), optimizerKernels.end(),
                       [kernel](std::string_view part) { return kernel.find(part) != std::string_view::npos; });
}

/// Returns the start times of calls that launch optimizer kernels, by process, in order.
std::vector<std::vector<int64_t>> updatesOf(const Trace& trace) {
    std::vector<std::vector<int64_t>> updates(trace.processes.size());
    std::vector<bool> isUpdate;
    for (const LaunchConfig& config : trace.launchConfigs)
        isUpdate.push_back(
            isOptimizer(trace.strings.at(config.demangledName != 0 ? config.demangledName : config.shortName)));
    const LaunchRows calls(trace);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        const uint32_t call = calls.ofKernel[row];
        if (call == noIndex || !isUpdate[trace.kernels.config[row]]) continue;
        updates[trace.threads[trace.apiCalls.thread[call]].process].push_back(trace.apiCalls.startNs[call]);
    }
    for (std::vector<int64_t>& each : updates) std::sort(each.begin(), each.end());
    return updates;
}

/// Returns the indices of the batches in which weights are updated.
std::vector<size_t> updatingSteps(const std::vector<StepSpan>& steps, const std::vector<int64_t>& updatesNs) {
    std::vector<size_t> places;
    for (size_t place = 0; place < steps.size(); ++place) {
        const TimeRange launched = steps[place].launches;
        const auto first = std::lower_bound(updatesNs.begin(), updatesNs.end(), launched.startNs);
        if (first != updatesNs.end() && *first < launched.endNs) places.push_back(place);
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
        if (steps[place].launches.endNs != steps[place + 1].launches.startNs) return false;
    return true;
}

/// Joins this many batches up to each update into one step, unless something else is between them.
std::vector<StepSpan> mergedSteps(const WorkerSteps& worker, const std::vector<size_t>& places, size_t count) {
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

void replaceSteps(WorkerSteps& worker, std::vector<StepSpan> joined, size_t lastUpdate, size_t count) {
    worker.isLastLeftOut = worker.isLastLeftOut || lastUpdate + 1 < worker.steps.size();
    worker.steps = std::move(joined);
    worker.foundCount =
        std::max(worker.foundCount / static_cast<int64_t>(count), static_cast<int64_t>(worker.steps.size()));
}

}  // namespace

void joinAccumulated(const Trace& trace, RunSteps& run) {
    if (run.source != StepSource::NvtxRange || !areBatches(run.pattern) || run.workers.empty()) return;
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
        joined.push_back(mergedSteps(run.workers[worker], places[worker], count));
        if (joined.back().empty()) return;
    }
    run.rangesPerStep = static_cast<int64_t>(count);
    for (size_t worker = 0; worker < run.workers.size(); ++worker)
        replaceSteps(run.workers[worker], std::move(joined[worker]), places[worker].back(), count);
}

namespace {

/// Minimum share of GPU time between ranges, relative to the step, that is reported.
constexpr double minReportedPauseShare = 0.005;
constexpr double warmUpFactor = 1.5;
/// Multiples of the median pause: a longer one may be an interruption.
constexpr double maxPauseFactor = 4;

/// Makes the steps of a worker from the ranges of a process.
class StepMaker {
  public:
    StepMaker(const Trace& trace, const WorkerLaunches& launches, const StepRanges& ranges) : launches_(launches) {
        worker_.process = launches.process();
        worker_.gpu = launches.gpu();
        worker_.stepThread = ranges.thread;
        for (const uint32_t row : ranges.rows) {
            const TimeRange range{trace.nvtx.startNs[row], trace.nvtx.endNs[row]};
            worker_.steps.push_back({static_cast<int64_t>(worker_.steps.size()), range, range, range,
                                     std::string(trace.strings.at(trace.nvtx.text[row]))});
        }
        worker_.foundCount = static_cast<int64_t>(worker_.steps.size());
    }

    /// Unchanged ranges, at the time of their work.
    WorkerSteps named() {
        const bool isAnyWork = std::any_of(worker_.steps.begin(), worker_.steps.end(),
                                           [this](const StepSpan& step) { return launches_.count(step.onCpu) > 0; });
        if (isAnyWork) placeOnGpu();
        return std::move(worker_);
    }

    /// Each to the start of the next.
    WorkerSteps found() {
        skipStepsWithoutWork();
        closePauses();
        placeOnGpu();
        return std::move(worker_);
    }

    /// Each unchanged; the time between them belongs to none.
    WorkerSteps requests() {
        skipStepsWithoutWork();
        placeOnGpu();
        return std::move(worker_);
    }

  private:
    void placeOnGpu() {
        for (StepSpan& step : worker_.steps)
            step.range = {launches_.onGpu(step.launches.startNs), launches_.onGpu(step.launches.endNs)};
    }

    /// The last one has no successor and is tested itself.
    void skipStepsWithoutWork() {
        std::vector<StepSpan>& steps = worker_.steps;
        std::vector<StepSpan> kept;
        for (size_t index = 0; index < steps.size(); ++index) {
            const TimeRange own = steps[index].onCpu;
            const TimeRange toNext{own.startNs, index + 1 < steps.size() ? steps[index + 1].onCpu.startNs : own.endNs};
            if (launches_.count(toNext) > 0) kept.push_back(std::move(steps[index]));
        }
        steps = std::move(kept);
    }

    /// Extends each step to the start of the next. A step without a successor would be shorter than
    /// the others if the GPU works between ranges; it is skipped then.
    void closePauses() {
        std::vector<StepSpan>& steps = worker_.steps;
        std::vector<bool> endsItself = interruptions();
        for (size_t index = 1; index < steps.size(); ++index)
            if (!endsItself[index - 1]) steps[index - 1].launches.endNs = steps[index].launches.startNs;
        std::vector<int64_t> pausesNs, periodsNs;
        for (size_t index = 1; index < steps.size(); ++index) {
            const int64_t nextNs = launches_.onGpu(steps[index].onCpu.startNs);
            pausesNs.push_back(nextNs - launches_.onGpu(steps[index - 1].onCpu.endNs));
            periodsNs.push_back(nextNs - launches_.onGpu(steps[index - 1].onCpu.startNs));
        }
        if (steps.size() < 3 || medianOf(pausesNs) <= minReportedPauseShare * medianOf(periodsNs)) return;
        endsItself.back() = true;
        worker_.isLastLeftOut = true;
        size_t kept = 0;
        for (size_t index = 0; index < steps.size(); ++index) {
            if (endsItself[index]) continue;
            if (kept != index) steps[kept] = std::move(steps[index]);
            ++kept;
        }
        steps.resize(kept);
    }

    /// Returns for each step if work of another kind follows, such as an evaluation. Waiting for
    /// data is a part of the step, however long.
    std::vector<bool> interruptions() const {
        const std::vector<StepSpan>& steps = worker_.steps;
        std::vector<TimeRange> pauses;
        std::vector<int64_t> pausesNs, periodsNs, counts;
        for (size_t index = 1; index < steps.size(); ++index) {
            const TimeRange period{steps[index - 1].onCpu.startNs, steps[index].onCpu.startNs};
            pauses.push_back({steps[index - 1].onCpu.endNs, period.endNs});
            pausesNs.push_back(pauses.back().durationNs());
            periodsNs.push_back(period.durationNs());
            counts.push_back(static_cast<int64_t>(launches_.count(period)));
        }
        std::vector<bool> result(steps.size());
        const double pauseNs = medianOf(pausesNs), periodNs = medianOf(periodsNs);
        const double count = medianOf(counts);
        for (size_t index = 0; index < pauses.size(); ++index) {
            const auto lengthNs = static_cast<double>(pauses[index].durationNs());
            result[index] = lengthNs > periodNs && lengthNs > maxPauseFactor * pauseNs &&
                            static_cast<double>(launches_.count(pauses[index])) > std::max(1.0, count / 2);
        }
        return result;
    }

    const WorkerLaunches& launches_;
    WorkerSteps worker_;
};

WorkerSteps fromPattern(const KernelPattern& pattern, const WorkerLaunches& launches) {
    WorkerSteps result;
    result.process = launches.process();
    result.gpu = launches.gpu();
    // The end of the last one is a guess.
    for (size_t index = 0; index + 1 < pattern.startsNs.size(); ++index)
        result.steps.push_back(
            {static_cast<int64_t>(index), {pattern.startsNs[index], pattern.startsNs[index + 1]}, {}, {}, {}});
    result.foundCount = static_cast<int64_t>(pattern.startsNs.size());
    result.isLastLeftOut = true;
    return result;
}

WorkerSteps oneStep(const WorkerLaunches& launches, TimeRange range) {
    WorkerSteps result;
    result.process = launches.process();
    result.gpu = launches.gpu();
    if (!range.isEmpty()) result.steps.push_back({0, range, {}, {}, {}});
    result.foundCount = static_cast<int64_t>(result.steps.size());
    return result;
}

/// Inputs of the search for a run's steps.
struct Run {
    const Trace& trace;
    const std::vector<WorkerLaunches> launches;
};

RunSteps namedSteps(const Run& run, const std::string& pattern, bool areFound) {
    RunSteps result;
    result.source = StepSource::NvtxRange;
    result.pattern = pattern;
    if (areRequestsNamed(run.trace, pattern)) result.kind = StepKind::Request;
    for (const StepRanges& ranges : stepRangesNamed(run.trace, pattern)) {
        // They are in order of processes.
        const auto workers = std::ranges::equal_range(run.launches, ranges.process, {}, &WorkerLaunches::process);
        for (const WorkerLaunches& launches : workers) {
            StepMaker maker(run.trace, launches, ranges);
            result.workers.push_back(!areFound                          ? maker.named()
                                     : result.kind == StepKind::Request ? maker.requests()
                                                                        : maker.found());
        }
    }
    return result;
}

RunSteps repeatedKernels(const Run& run) {
    RunSteps result;
    result.source = StepSource::KernelPattern;
    const WorkRows rows(run.trace);
    for (const WorkerLaunches& launches : run.launches) {
        const KernelPattern pattern = findKernelPattern(run.trace, rows.of(launches.process(), launches.gpu()));
        if (pattern.startsNs.empty()) continue;
        if (result.pattern.empty()) result.pattern = pattern.kernel;
        result.workers.push_back(fromPattern(pattern, launches));
    }
    return result;
}

RunSteps wholeRun(const Run& run) {
    RunSteps result;
    for (const WorkerLaunches& launches : run.launches)
        result.workers.push_back(oneStep(launches, run.trace.processes[launches.process()].range));
    return result;
}

RunSteps chosenInterval(const Run& run, TimeRange stretch) {
    RunSteps result;
    result.source = StepSource::Chosen;
    for (const WorkerLaunches& launches : run.launches) result.workers.push_back(oneStep(launches, stretch));
    return result;
}

RunSteps stepsFoundIn(const Run& run) {
    const std::string pattern = findStepPattern(run.trace, run.launches);
    if (!pattern.empty()) {
        RunSteps result = namedSteps(run, pattern, true);
        const auto fewest = static_cast<int64_t>(minStepsOf(pattern));
        std::erase_if(result.workers, [fewest](const WorkerSteps& worker) { return worker.foundCount < fewest; });
        return result;
    }
    RunSteps result = repeatedKernels(run);
    return result.workers.empty() ? wholeRun(run) : result;
}

/// A step with a pause of the recording is longer than its recorded part.
void skipUnrecorded(const Trace& trace, RunSteps& run) {
    for (WorkerSteps& worker : run.workers) {
        const Process& recorded = trace.processes[worker.process];
        if (!recorded.hasWindows) continue;
        std::erase_if(worker.steps, [&recorded](const StepSpan& step) {
            return std::none_of(recorded.windows.begin(), recorded.windows.end(), [&step](const TimeRange& window) {
                // Work that was launched in a window is recorded, however late it runs.
                const TimeRange& kept = step.launches.isEmpty() ? step.range : step.launches;
                return window.startNs <= kept.startNs && kept.endNs <= window.endNs;
            });
        });
    }
}

/// A step with work of which the profiler got no time cannot be judged by the rest. The recorder's own losses are
/// counted instead, since they name no step.
void skipUntimed(const Trace& trace, RunSteps& run) {
    if (trace.producerKind == ProducerKind::Lanescope) return;
    for (WorkerSteps& worker : run.workers) {
        const std::vector<Gap>& gaps = trace.processes[worker.process].gaps;
        std::erase_if(worker.steps, [&gaps](const StepSpan& step) {
            const TimeRange& launches = step.launches.isEmpty() ? step.range : step.launches;
            return std::ranges::any_of(
                gaps, [&](const Gap& gap) { return gap.what == Loss::CudaActivity && gap.range.overlaps(launches); });
        });
    }
}

/// The recorded part of the step after the excerpt ends the last step of the excerpt.
void skipAfterExcerpt(const Trace& trace, RunSteps& run) {
    const int64_t count = trace.facts.cutSteps.value_or(0);
    if (count <= 0) return;
    for (WorkerSteps& worker : run.workers) {
        if (worker.foundCount <= count) continue;
        worker.foundCount = count;
        worker.isLastLeftOut = false;
        std::erase_if(worker.steps, [count](const StepSpan& step) { return step.number >= count; });
    }
}

size_t slowBeginning(const WorkerSteps& worker) {
    std::vector<int64_t> durations;
    for (const StepSpan& step : worker.steps) durations.push_back(step.range.durationNs());
    const double limitNs = warmUpFactor * medianOf(durations);
    size_t count = 0;
    while (count < worker.steps.size() && static_cast<double>(worker.steps[count].range.durationNs()) > limitNs)
        ++count;
    return count;
}

/// The same number in every process, else steps of different ranks would not correspond.
void skipWarmUp(RunSteps& run) {
    size_t count = 0;
    for (const WorkerSteps& worker : run.workers) count = std::max(count, slowBeginning(worker));
    for (WorkerSteps& worker : run.workers) {
        const size_t here = std::min(count, worker.steps.empty() ? 0 : worker.steps.size() - 1);
        worker.steps.erase(worker.steps.begin(), worker.steps.begin() + static_cast<ptrdiff_t>(here));
        worker.warmUpCount = static_cast<int64_t>(here);
    }
}

Result<void> keepNumbers(const Trace& trace, RunSteps& run, StepRange numbers) {
    int64_t found = 0;
    bool isAnyLeft = false;
    for (WorkerSteps& worker : run.workers) {
        found = std::max(found, worker.foundCount);
        std::erase_if(worker.steps, [numbers](const StepSpan& step) {
            return step.number < numbers.first || step.number > numbers.last;
        });
        isAnyLeft = isAnyLeft || !worker.steps.empty();
    }
    if (isAnyLeft) return {};
    const bool isNone = numbers.first >= found;
    return fail("{} has {} step{}, counted from 0, so {}: {}.", trace.title, found, found == 1 ? "" : "s",
                numbers.first == numbers.last
                    ? fmt::format("step {} cannot be taken", numbers.first)
                    : fmt::format("steps {} to {} cannot be taken", numbers.first, numbers.last),
                isNone ? "there are no such" : "no next one ends the last");
}

}  // namespace

Result<StepRange> parseStepNumbers(std::string_view text) {
    if (const std::optional<StepRange> numbers = parseStepRange(text)) return *numbers;
    return fail("\"{}\" names no steps; write one number or two as in 5-20, counted from 0.", text);
}

Result<RunSteps> findSteps(const Trace& trace, const StepSelection& selection) {
    const Run searched{trace, launchesOf(trace)};
    if (selection.stretch) return chosenInterval(searched, *selection.stretch);
    if (!selection.rangeName.empty() && stepRangesNamed(trace, selection.rangeName).empty())
        return noSuchRange(trace, selection.rangeName);
    RunSteps run =
        selection.rangeName.empty() ? stepsFoundIn(searched) : namedSteps(searched, selection.rangeName, false);
    markRequests(trace, run);
    if (selection.rangeName.empty()) joinAccumulated(trace, run);
    if (run.source != StepSource::WholeRun) {
        skipAfterExcerpt(trace, run);
        skipUnrecorded(trace, run);
        skipUntimed(trace, run);
    }
    if (selection.numbers) {
        if (auto kept = keepNumbers(trace, run, *selection.numbers); !kept) return fail(kept.error());
    } else if (!selection.keepsWarmUp) {
        skipWarmUp(run);
    }
    return run;
}

uint32_t WorkerSteps::stepOf(int64_t startNs, std::optional<int64_t> launchedNs) const {
    const auto holds = [&](auto member, int64_t timeNs) {
        const auto after = std::partition_point(steps.begin(), steps.end(),
                                                [&](const StepSpan& step) { return (step.*member).startNs <= timeNs; });
        if (after == steps.begin() || !((*(after - 1)).*member).contains(timeNs)) return noIndex;
        return static_cast<uint32_t>(after - 1 - steps.begin());
    };
    if (launchedNs && !steps.empty() && !steps.front().launches.isEmpty())
        return holds(&StepSpan::launches, *launchedNs);
    return holds(&StepSpan::range, startNs);
}

std::string_view identifier(StepKind kind) { return kind == StepKind::Request ? "request" : "step"; }

std::string_view identifier(StepSource source) {
    static constexpr std::array<std::string_view, 4> all{"nvtx_range", "kernel_pattern", "whole_run", "chosen"};
    return all[static_cast<size_t>(source)];
}

}  // namespace lanescope
