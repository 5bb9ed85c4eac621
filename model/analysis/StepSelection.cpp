// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepSelection.h"

#include <algorithm>

#include "model/analysis/WorkerLaunches.h"
#include "model/analysis/pythonLoops.h"
#include "model/analysis/requestSteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/analysis/stepRanges.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/LaunchLinks.h"

namespace lanescope {

namespace {

/// Minimum share of GPU time between ranges, relative to the step, that is reported.
constexpr double minReportedPauseShare = 0.005;
constexpr double warmUpFactor = 1.5;
/// A pause longer than this multiple of the median pause may be an interruption.
constexpr double maxPauseFactor = 4;

/// Makes the steps of a worker from the marks of a process.
class StepMaker {
  public:
    StepMaker(const WorkerLaunches& launches, const StepMarks& marks) : launches_(launches), marks_(marks) {
        worker_.process = launches.process();
        worker_.gpu = launches.gpu();
        worker_.stepThread = marks.thread;
        for (const StepMark& mark : marks.marks)
            worker_.steps.push_back(
                {static_cast<int64_t>(worker_.steps.size()), mark.range, mark.range, mark.range, mark.name});
        worker_.foundCount = static_cast<int64_t>(worker_.steps.size());
    }

    /// Unchanged ranges, at the time of their work.
    WorkerSteps named() {
        const bool isAnyWork = std::ranges::any_of(
            worker_.steps, [this](const StepSpan& step) { return launches_.count(step.onCpu) > 0; });
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

    /// Extends each step to the start of the next. A step without one is skipped if the GPU works between ranges.
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

    /// Returns for each step if other work follows, such as an evaluation. Waiting for data is part of the step.
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
            const bool isOtherWork = static_cast<double>(launches_.count(pauses[index])) > std::max(1.0, count / 2);
            result[index] = lengthNs > periodNs && lengthNs > maxPauseFactor * pauseNs &&
                            (isOtherWork || marks_.marks[static_cast<size_t>(steps[index].number)].isInterrupted);
        }
        return result;
    }

    const WorkerLaunches& launches_;
    const StepMarks& marks_;
    WorkerSteps worker_;
};

WorkerSteps fromPattern(const KernelPattern& pattern, const WorkerLaunches& launches) {
    WorkerSteps result{.process = launches.process(), .gpu = launches.gpu()};
    // The end of the last one is a guess.
    for (size_t index = 0; index + 1 < pattern.startsNs.size(); ++index)
        result.steps.push_back(
            {static_cast<int64_t>(index), {pattern.startsNs[index], pattern.startsNs[index + 1]}, {}, {}, {}});
    result.foundCount = static_cast<int64_t>(pattern.startsNs.size());
    result.isLastLeftOut = true;
    return result;
}

WorkerSteps oneStep(const WorkerLaunches& launches, TimeRange range) {
    WorkerSteps result{.process = launches.process(), .gpu = launches.gpu()};
    if (!range.isEmpty()) result.steps.push_back({0, range, {}, {}, {}});
    result.foundCount = static_cast<int64_t>(result.steps.size());
    return result;
}

/// Inputs of the search for a run's steps.
struct Run {
    const Trace& trace;
    const std::vector<WorkerLaunches> launches;
};

enum class MarkUse : uint8_t { Named, Found };

/// Adds the workers of processes with marks.
void addMarked(const Run& run, const std::vector<StepMarks>& processes, MarkUse use, RunSteps& result) {
    for (const StepMarks& marks : processes) {
        // They are in order of processes.
        const auto workers = std::ranges::equal_range(run.launches, marks.process, {}, &WorkerLaunches::process);
        for (const WorkerLaunches& launches : workers) {
            StepMaker maker(launches, marks);
            result.workers.push_back(use == MarkUse::Named              ? maker.named()
                                     : result.kind == StepKind::Request ? maker.requests()
                                                                        : maker.found());
        }
    }
}

RunSteps rangeSteps(const Run& run, const std::string& pattern, MarkUse use) {
    RunSteps result{.source = StepSource::NvtxRange, .pattern = pattern};
    if (areRequestsNamed(run.trace, pattern)) result.kind = StepKind::Request;
    std::vector<StepMarks> processes;
    for (const StepRanges& ranges : stepRangesNamed(run.trace, pattern))
        processes.push_back(marksOf(run.trace, ranges));
    addMarked(run, processes, use, result);
    return result;
}

RunSteps loopSteps(const Run& run, const PythonLoop& loop) {
    RunSteps result{.source = StepSource::PythonLoop, .pattern = loop.line};
    addMarked(run, loop.processes, MarkUse::Found, result);
    return result;
}

/// Steps by the period of the kernels, and the parts of these steps, if they have any, as a unit.
RunSteps repeatedKernels(const Run& run, RepetitionSize size = RepetitionSize::Steps) {
    RunSteps result{.source = StepSource::KernelPattern};
    const WorkRows rows(run.trace);
    const LaunchRows calls(run.trace);
    for (const WorkerLaunches& launches : run.launches) {
        const KernelPattern pattern =
            findKernelPattern(run.trace, rows.of(launches.process(), launches.gpu()), calls, size);
        if (pattern.startsNs.empty()) continue;
        if (result.pattern.empty()) result.pattern = pattern.kernel;
        result.workers.push_back(fromPattern(pattern, launches));
        if (result.units.empty() && !pattern.part.empty())
            result.units.push_back({StepSource::KernelPattern, pattern.part,
                                    pattern.partsPerStep * static_cast<int64_t>(pattern.startsNs.size())});
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
    RunSteps result{.source = StepSource::Chosen};
    for (const WorkerLaunches& launches : run.launches) result.workers.push_back(oneStep(launches, stretch));
    return result;
}

/// A loop with fewer iterations is rather one of epochs, if another is within it.
constexpr size_t minMainIterations = 5;
/// An inner loop is the training loop if at least this share of its iterations updates weights.
constexpr double minUpdatedShare = 0.8;
/// Multiple of the GPU time of ranges that they take on the CPU if their work was kept back.
constexpr double deferredFactor = 2;
/// One unit contains several of another if their counts differ by at least this factor.
constexpr double severalFactor = 1.5;

/// Returns the outermost loop with enough iterations that does not contain a loop of a training.
const PythonLoop* mainLoop(const Run& run, const std::vector<PythonLoop>& loops) {
    const PythonLoop* main = nullptr;
    if (loops.empty()) return main;
    const WeightUpdates updates(run.trace);
    for (const PythonLoop& loop : loops)
        if (!loop.processes.empty() && updates.shareOf(loop.processes.front()) >= minUpdatedShare) main = &loop;
    if (main != nullptr) return main;
    for (const PythonLoop& loop : loops) {
        main = &loop;
        if (loop.count >= minMainIterations) break;
    }
    return main;
}

/// Returns true if the ranges are at least as large as the iterations of the loop and not epochs.
bool areLarger(const StepCandidate& ranges, const PythonLoop& loop) {
    if (ranges.naming >= StepNaming::Requests) return true;
    // So few iterations of launches at one line may each be many calls, between calls that compile the program again.
    if (ranges.naming == StepNaming::CompiledProgram)
        return loop.count < minMainIterations && ranges.count >= minMainIterations;
    if (ranges.naming != StepNaming::Nothing) return false;
    const auto count = static_cast<double>(ranges.count), iterations = static_cast<double>(loop.count);
    return count <= severalFactor * iterations &&
           (ranges.count >= minMainIterations || severalFactor * count >= iterations);
}

/// Returns true if the work of most ranges ran long after them and in much less time: it was kept back, and its order
/// on the GPU shows nothing of the ranges. A CPU that runs ahead of a busy GPU takes less time than the GPU.
bool ranDeferred(const RunSteps& run) {
    size_t late = 0, all = 0;
    for (const WorkerSteps& worker : run.workers) {
        std::vector<int64_t> periodsNs, gpuNs;
        for (const StepSpan& step : worker.steps) {
            periodsNs.push_back(step.launches.durationNs());
            gpuNs.push_back(step.range.durationNs());
        }
        const double periodNs = medianOf(periodsNs);
        if (periodNs < deferredFactor * medianOf(gpuNs)) return false;
        all += worker.steps.size();
        late += static_cast<size_t>(std::ranges::count_if(worker.steps, [periodNs](const StepSpan& step) {
            return static_cast<double>(step.range.startNs - step.launches.endNs) > periodNs;
        }));
    }
    return all > 0 && 2 * late >= all;
}

/// Minimum share of the trace that a unit without a name covers. Less says nothing about the run.
constexpr double minCoverage = 0.001;

bool isNegligible(const Trace& trace, const RunSteps& run) {
    int64_t longestNs = 0;
    for (const WorkerSteps& worker : run.workers)
        longestNs =
            std::max(longestNs, sumOf(worker.steps, [](const StepSpan& step) { return step.range.durationNs(); }));
    return static_cast<double>(longestNs) < minCoverage * static_cast<double>(trace.range.durationNs());
}

RunSteps stepsFoundIn(const Run& run) {
    const std::vector<StepCandidate> ranges = findStepPatterns(run.trace, run.launches);
    const bool areNamed = !ranges.empty() && ranges.front().naming >= StepNaming::Requests;
    PythonLoops python;
    if (!areNamed) python = findPythonLoops(run.trace, run.launches);
    const PythonLoop* loop = mainLoop(run, python.loops);
    RunSteps result;
    if (!ranges.empty() && (loop == nullptr || areLarger(ranges.front(), *loop))) {
        result = rangeSteps(run, ranges.front().name, MarkUse::Found);
        const auto fewest = static_cast<int64_t>(minStepsOf(ranges.front().name));
        std::erase_if(result.workers, [fewest](const WorkerSteps& worker) { return worker.foundCount < fewest; });
        if (ranDeferred(result)) {
            result = wholeRun(run);
            result.deferred = ranges.front().name;
        }
    } else if (loop != nullptr) {
        result = loopSteps(run, *loop);
    } else {
        result = repeatedKernels(run);
        if (!python.onlyCall.empty() && !result.workers.empty()) {
            const StepUnit part{StepSource::KernelPattern, result.pattern, result.workers.front().foundCount};
            result = wholeRun(run);
            result.onlyCall = python.onlyCall;
            result.units.push_back(part);
        }
        if (result.workers.empty()) result = wholeRun(run);
    }
    if (result.source != StepSource::NvtxRange && isNegligible(run.trace, result)) result = wholeRun(run);
    for (const StepCandidate& each : ranges)
        result.units.push_back({StepSource::NvtxRange, each.name, static_cast<int64_t>(each.count)});
    for (const PythonLoop& each : python.loops)
        result.units.push_back({StepSource::PythonLoop, each.line, static_cast<int64_t>(each.count)});
    if (result.source == StepSource::PythonLoop) {
        const RunSteps parts = repeatedKernels(run, RepetitionSize::Smallest);
        if (!parts.workers.empty())
            result.units.push_back({StepSource::KernelPattern, parts.pattern, parts.workers.front().foundCount});
    }
    std::erase_if(result.units, [&result](const StepUnit& unit) {
        return unit.source == result.source && unit.pattern == result.pattern;
    });
    return result;
}

/// Returns true if a unit is called so, by its whole name or the short one that is shown.
bool isCalled(std::string_view pattern, std::string_view name) {
    return !pattern.empty() && (pattern == name || analysis::shortContributorName(pattern) == name);
}

/// Returns the steps that are called so and are no ranges; nullopt if there are none.
std::optional<RunSteps> unitSteps(const Run& run, const std::string& name) {
    for (const PythonLoop& loop : findPythonLoops(run.trace, run.launches).loops)
        if (loop.line == name) return loopSteps(run, loop);
    for (const RepetitionSize size : {RepetitionSize::Steps, RepetitionSize::Smallest})
        if (RunSteps found = repeatedKernels(run, size); isCalled(found.pattern, name)) return found;
    return std::nullopt;
}

/// Returns the pattern of ranges that are shown by this name; empty if there is none.
std::string patternKnownAs(const Run& run, const std::string& name) {
    for (const StepCandidate& each : findStepPatterns(run.trace, run.launches))
        if (knownRangeName(each.name) == name) return each.name;
    return {};
}

/// Steps get the numbers in their names if all of the run have one.
void numberAsNamed(RunSteps& run) {
    if (run.source != StepSource::NvtxRange || run.rangesPerStep > 1) return;
    std::vector<std::vector<int64_t>> numbers;
    for (const WorkerSteps& worker : run.workers) {
        std::vector<std::string_view> names;
        for (const StepSpan& step : worker.steps) names.push_back(step.name);
        if (names.empty()) {
            numbers.emplace_back();
            continue;
        }
        auto own = ownNumbers(names);
        if (!own) return;
        numbers.push_back(std::move(*own));
    }
    for (size_t worker = 0; worker < run.workers.size(); ++worker)
        for (size_t step = 0; step < numbers[worker].size(); ++step)
            run.workers[worker].steps[step].number = numbers[worker][step];
}

/// A step with a pause of the recording is longer than its recorded part.
void skipUnrecorded(const Trace& trace, RunSteps& run) {
    for (WorkerSteps& worker : run.workers) {
        const Process& recorded = trace.processes[worker.process];
        if (!recorded.hasWindows) continue;
        std::erase_if(worker.steps, [&recorded](const StepSpan& step) {
            return std::ranges::none_of(recorded.windows, [&step](const TimeRange& window) {
                // Work that was launched in a window is recorded, however late it runs.
                const TimeRange& kept = step.launches.isEmpty() ? step.range : step.launches;
                return window.startNs <= kept.startNs && kept.endNs <= window.endNs;
            });
        });
    }
}

/// Skips steps that contain work without a time, which may have taken longer. Losses of the recording are counted.
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
    std::vector<int64_t> durations = mapped(worker.steps, [](const StepSpan& step) { return step.range.durationNs(); });
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
    std::optional<StepRange> known;
    bool isAnyLeft = false;
    for (WorkerSteps& worker : run.workers) {
        if (!worker.steps.empty())
            known = StepRange{std::min(known ? known->first : INT64_MAX, worker.steps.front().number),
                              std::max(known ? known->last : 0, worker.steps.back().number)};
        std::erase_if(worker.steps, [numbers](const StepSpan& step) {
            return step.number < numbers.first || step.number > numbers.last;
        });
        isAnyLeft = isAnyLeft || !worker.steps.empty();
    }
    if (isAnyLeft) return {};
    const auto text = [](StepRange range) {
        return range.first == range.last ? fmt::format("step {}", range.first)
                                         : fmt::format("steps {} to {}", range.first, range.last);
    };
    if (!known) return fail("{} has no whole step, so {} cannot be chosen.", trace.title, text(numbers));
    return fail("{} has no {}. Choose among {}.", trace.title, text(numbers), text(*known));
}

}  // namespace

Result<StepRange> parseStepNumbers(std::string_view text) {
    if (const std::optional<StepRange> numbers = parseStepRange(text)) return *numbers;
    return fail("\"{}\" names no steps; write one number or two as in 5-20, counted from 0.", text);
}

Result<RunSteps> findSteps(const Trace& trace, const StepSelection& selection) {
    const Run searched{trace, launchesOf(trace)};
    if (selection.stretch) return chosenInterval(searched, *selection.stretch);
    RunSteps run;
    if (selection.rangeName.empty()) {
        run = stepsFoundIn(searched);
    } else if (!stepRangesNamed(trace, selection.rangeName).empty()) {
        run = rangeSteps(searched, selection.rangeName, MarkUse::Named);
    } else if (const std::string known = patternKnownAs(searched, selection.rangeName); !known.empty()) {
        run = rangeSteps(searched, known, MarkUse::Named);
    } else {
        std::optional<RunSteps> unit = unitSteps(searched, selection.rangeName);
        if (!unit) return noSuchRange(trace, selection.rangeName);
        run = std::move(*unit);
    }
    markRequests(trace, run);
    if (selection.rangeName.empty()) groupParts(trace, run);
    if (run.source != StepSource::WholeRun) {
        skipAfterExcerpt(trace, run);
        skipUnrecorded(trace, run);
        skipUntimed(trace, run);
    }
    numberAsNamed(run);
    if (selection.numbers) {
        if (auto kept = keepNumbers(trace, run, *selection.numbers); !kept) return fail(kept.error());
    } else if (!selection.keepsWarmUp) {
        skipWarmUp(run);
    }
    return run;
}

uint32_t WorkerSteps::stepOf(int64_t startNs, std::optional<int64_t> launchedNs) const {
    const auto holds = [&](auto member, int64_t timeNs) {
        const auto after =
            std::ranges::partition_point(steps, [&](const StepSpan& step) { return (step.*member).startNs <= timeNs; });
        if (after == steps.begin() || !((*(after - 1)).*member).contains(timeNs)) return noIndex;
        return static_cast<uint32_t>(after - 1 - steps.begin());
    };
    if (launchedNs && !steps.empty() && !steps.front().launches.isEmpty())
        return holds(&StepSpan::launches, *launchedNs);
    return holds(&StepSpan::range, startNs);
}

std::string_view identifier(StepKind kind) { return kind == StepKind::Request ? "request" : "step"; }

std::string_view identifier(StepSource source) {
    return enumText(source, {"nvtx_range", "kernel_pattern", "whole_run", "python_loop", "chosen"});
}

}  // namespace lanescope
