// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include "model/steps/StepSelection.h"
#include "model/steps/kernelPattern.h"
#include "model/steps/rangeNames.h"
#include "model/steps/stepRanges.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

/// A pause between ranges that is worth a word, as a share of the step.
constexpr double noticeablePause = 0.005;
constexpr double warmUpFactor = 1.5;

std::set<uint32_t> processesWithGpuWork(const Trace& trace) {
    std::vector<bool> isUsed(trace.streams.size());
    const auto mark = [&](const auto& table) {
        for (const uint32_t stream : table.stream) isUsed[stream] = true;
    };
    mark(trace.kernels);
    mark(trace.memcpys);
    mark(trace.memsets);
    mark(trace.graphs);
    std::set<uint32_t> processes;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream)
        if (isUsed[stream]) processes.insert(trace.streams[stream].process);
    return processes;
}

TimeRange rangeOfRow(const Trace& trace, uint32_t row) {
    return {trace.nvtx.startNs[row], trace.nvtx.endNs[row]};
}

/// Makes each step last to the start of the next. The last has none: where there is time between
/// steps it would be shorter than the others, and is left out.
void closePauses(ProcessSteps& process) {
    std::vector<StepSpan>& steps = process.steps;
    std::vector<int64_t> pauses, periods;
    for (size_t index = 1; index < steps.size(); ++index) {
        pauses.push_back(steps[index].range.startNs - steps[index - 1].range.endNs);
        periods.push_back(steps[index].range.startNs - steps[index - 1].range.startNs);
        steps[index - 1].range.endNs = steps[index].range.startNs;
    }
    if (steps.size() < 3 || medianOf(pauses) <= noticeablePause * medianOf(periods)) return;
    steps.pop_back();
    process.isLastLeftOut = true;
}

ProcessSteps fromRanges(const Trace& trace, const StepRanges& ranges, bool areFound) {
    ProcessSteps process;
    process.process = ranges.process;
    process.stepThread = ranges.thread;
    for (const uint32_t row : ranges.rows)
        process.steps.push_back({static_cast<int64_t>(process.steps.size()), rangeOfRow(trace, row),
                                 std::string(trace.strings.at(trace.nvtx.text[row]))});
    process.foundCount = static_cast<int64_t>(process.steps.size());
    if (areFound) closePauses(process);
    return process;
}

ProcessSteps fromPattern(const KernelPattern& pattern, uint32_t process) {
    ProcessSteps result;
    result.process = process;
    for (size_t index = 0; index < pattern.startsNs.size(); ++index) {
        const bool isLast = index + 1 == pattern.startsNs.size();
        const TimeRange range{pattern.startsNs[index],
                              isLast ? pattern.endNs : pattern.startsNs[index + 1]};
        result.steps.push_back({static_cast<int64_t>(index), range, {}});
    }
    result.foundCount = static_cast<int64_t>(result.steps.size());
    // Where the last step ends is a guess.
    result.steps.pop_back();
    result.isLastLeftOut = true;
    return result;
}

ProcessSteps oneStep(uint32_t process, TimeRange range) {
    ProcessSteps result;
    result.process = process;
    if (!range.isEmpty()) result.steps.push_back({0, range, {}});
    result.foundCount = static_cast<int64_t>(result.steps.size());
    return result;
}

RunSteps namedSteps(const Trace& trace, const std::string& pattern, bool areFound) {
    RunSteps run;
    run.source = StepSource::NvtxRange;
    run.pattern = pattern;
    for (const StepRanges& ranges : stepRangesNamed(trace, pattern))
        run.processes.push_back(fromRanges(trace, ranges, areFound));
    return run;
}

RunSteps repeatedKernels(const Trace& trace) {
    RunSteps run;
    run.source = StepSource::KernelPattern;
    for (const uint32_t process : processesWithGpuWork(trace)) {
        const KernelPattern pattern = findKernelPattern(trace, process);
        if (pattern.startsNs.empty()) continue;
        if (run.pattern.empty()) run.pattern = pattern.kernel;
        run.processes.push_back(fromPattern(pattern, process));
    }
    return run;
}

RunSteps wholeRun(const Trace& trace) {
    RunSteps run;
    for (const uint32_t process : processesWithGpuWork(trace))
        run.processes.push_back(oneStep(process, trace.processes[process].range));
    return run;
}

RunSteps chosenStretch(const Trace& trace, TimeRange stretch) {
    RunSteps run;
    run.source = StepSource::Chosen;
    for (const uint32_t process : processesWithGpuWork(trace))
        run.processes.push_back(oneStep(process, stretch));
    return run;
}

RunSteps stepsFoundIn(const Trace& trace) {
    const std::string pattern = findStepPattern(trace);
    if (!pattern.empty()) {
        RunSteps run = namedSteps(trace, pattern, true);
        std::erase_if(run.processes,
                      [](const ProcessSteps& process) { return process.foundCount < 3; });
        return run;
    }
    RunSteps run = repeatedKernels(trace);
    return run.processes.empty() ? wholeRun(trace) : run;
}

/// A step during which the recording paused is longer than what is known of it.
void leaveOutUnrecorded(const Trace& trace, RunSteps& run) {
    for (ProcessSteps& process : run.processes) {
        const Process& recorded = trace.processes[process.process];
        if (!recorded.hasWindows) continue;
        std::erase_if(process.steps, [&recorded](const StepSpan& step) {
            return std::none_of(
                recorded.windows.begin(), recorded.windows.end(), [&step](const TimeRange& window) {
                    return window.startNs <= step.range.startNs && step.range.endNs <= window.endNs;
                });
        });
    }
}

size_t slowBeginning(const ProcessSteps& process) {
    std::vector<int64_t> durations;
    for (const StepSpan& step : process.steps) durations.push_back(step.range.durationNs());
    const double limitNs = warmUpFactor * medianOf(durations);
    size_t count = 0;
    while (count < process.steps.size() &&
           static_cast<double>(process.steps[count].range.durationNs()) > limitNs)
        ++count;
    return count;
}

/// The same number in every process, or steps of different ranks would not be the same ones.
void leaveOutWarmUp(RunSteps& run) {
    size_t count = 0;
    for (const ProcessSteps& process : run.processes)
        count = std::max(count, slowBeginning(process));
    for (ProcessSteps& process : run.processes) {
        const size_t here = std::min(count, process.steps.empty() ? 0 : process.steps.size() - 1);
        process.steps.erase(process.steps.begin(),
                            process.steps.begin() + static_cast<ptrdiff_t>(here));
        process.warmUpCount = static_cast<int64_t>(here);
    }
}

Result<void> keepNumbers(const Trace& trace, RunSteps& run, StepRange numbers) {
    int64_t found = 0;
    bool isAnyLeft = false;
    for (ProcessSteps& process : run.processes) {
        found = std::max(found, process.foundCount);
        std::erase_if(process.steps, [numbers](const StepSpan& step) {
            return step.number < numbers.first || step.number > numbers.last;
        });
        isAnyLeft = isAnyLeft || !process.steps.empty();
    }
    if (isAnyLeft) return {};
    return fail("{} has {} step{}, counted from 0, so steps {} to {} are not among them.",
                trace.title, found, found == 1 ? "" : "s", numbers.first, numbers.last);
}

}  // namespace

Result<StepRange> parseStepNumbers(std::string_view text) {
    if (const std::optional<StepRange> numbers = parseStepRange(text)) return *numbers;
    return fail("\"{}\" names no steps; write one number or two as in 5-20, counted from 0.", text);
}

Result<RunSteps> findSteps(const Trace& trace, const StepSelection& selection) {
    if (selection.stretch) return chosenStretch(trace, *selection.stretch);
    RunSteps run;
    if (selection.rangeName.empty()) {
        run = stepsFoundIn(trace);
    } else {
        run = namedSteps(trace, selection.rangeName, false);
        if (run.processes.empty()) return noSuchRange(trace, selection.rangeName);
    }
    if (run.source != StepSource::WholeRun) leaveOutUnrecorded(trace, run);
    if (selection.numbers) {
        if (auto kept = keepNumbers(trace, run, *selection.numbers); !kept)
            return fail(kept.error());
    } else if (!selection.keepsWarmUp) {
        leaveOutWarmUp(run);
    }
    return run;
}

std::string_view identifier(StepSource source) {
    static constexpr std::array<std::string_view, 4> all{"nvtx_range", "kernel_pattern",
                                                         "whole_run", "chosen"};
    return all[static_cast<size_t>(source)];
}

}  // namespace lanescope
