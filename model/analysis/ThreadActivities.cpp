// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/ThreadActivities.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/format/threadStates.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

namespace {

/// Python files whose functions on a stack reveal a thread's activity: those that compile code, not compiled ones.
constexpr std::pair<std::string_view, ThreadWork> knownFiles[]{
    {"/torch/_dynamo/convert_frame.py", ThreadWork::Dynamo},
    {"/torch/_inductor/compile_fx.py", ThreadWork::Inductor},
    {"/triton/compiler/compiler.py", ThreadWork::Triton},
    {"/jax/_src/compiler.py", ThreadWork::Jax},
    {"/torch/utils/data/dataloader.py", ThreadWork::TorchData},
    {"/torch/optim/optimizer.py", ThreadWork::TorchOptimizer},
};

/// Divisor of the time between samples. Shorter times on a core, or waiting for a core, are ignored.
constexpr int64_t negligibleDivisor = 10;

/// Returns the work by the outermost of such frames.
ThreadWork workOf(const Trace& trace, uint32_t stack) {
    if (stack < trace.stacks.size() && trace.strings.at(trace.stacks.function[stack]) == garbageCollectionFrame)
        return ThreadWork::GarbageCollection;
    auto work = ThreadWork::Unknown;
    for (uint32_t frame = stack; frame < trace.stacks.size(); frame = outerStack(trace, frame)) {
        const std::string_view file = trace.strings.at(trace.stacks.file[frame]);
        // Modules that are imported inside such a function are loaded once: that is not its work.
        if (file.ends_with("importlib._bootstrap>")) return ThreadWork::Unknown;
        for (const auto& [ending, each] : knownFiles)
            if (file.ends_with(ending)) work = each;
    }
    return work;
}

FrameRef ownFrameRef(const Trace& trace, uint32_t stack) { return frameRef(trace, ownFrame(trace, stack)); }

}  // namespace

std::string timesText(const Trace& trace, const ThreadTimes& times, int64_t wholeNs) {
    std::vector<ThreadState> states;
    constexpr double minShownPercent = 3;
    const auto percent = [&](ThreadState state) {
        return wholeNs > 0 ? 100 * static_cast<double>(times.of(state)) / static_cast<double>(wholeNs) : 0.0;
    };
    for (size_t state = 1; state < threadStateCount; ++state)
        if (percent(static_cast<ThreadState>(state)) >= minShownPercent)
            states.push_back(static_cast<ThreadState>(state));
    std::ranges::stable_sort(states, std::ranges::greater(), [&](ThreadState each) { return times.of(each); });
    std::string text;
    for (const ThreadState state : states)
        text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", percent(state), nameOf(state).meaning);
    if (times.stack != noIndex && !text.empty()) text += "; at " + frameText(trace, ownFrame(trace, times.stack));
    if (times.holder != noIndex && !text.empty()) {
        text += "; the GIL has the " + threadRef(trace, times.holder).text();
        if (times.holderStack != noIndex) text += " at " + frameText(trace, ownFrame(trace, times.holderStack));
    }
    return text;
}

std::vector<std::string_view> compilerFiles() {
    std::vector<std::string_view> files;
    for (const auto& [ending, work] : knownFiles)
        if (isCompiling(work)) files.push_back(ending);
    return files;
}

Intervals ThreadActivities::notAwaitingData(uint32_t thread, TimeRange range) const {
    if (states_.isEmpty(thread)) return {};
    Intervals awaiting;
    states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
        switch (trace_.cpuStates.state[row]) {
            case ThreadState::Poll:
            case ThreadState::Disk:
            case ThreadState::Lock:
            case ThreadState::Child: awaiting.push_back({piece.startNs, piece.endNs, 0}); break;
            default: break;
        }
    });
    const Intervals whole{{range.startNs, range.endNs, 0}};
    return without(whole, withoutOverlaps(std::move(awaiting)));
}

ThreadActivities::Core ThreadActivities::coreIn(uint32_t row) const {
    const CpuStateTable& states = trace_.cpuStates;
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    const int64_t delayNs = states.delayNs[row];
    const ThreadState state = states.state[row];
    if (state == ThreadState::Runnable)
        return states.cpuNs[row] > wholeNs / negligibleDivisor ? Core::Alternating : Core::None;
    // A thread that also waits is described by its waits unless it wanted a core most of the time.
    const bool wantsAlways = state == ThreadState::Running && delayNs > wholeNs / negligibleDivisor &&
                             delayNs + states.cpuNs[row] > wholeNs - wholeNs / negligibleDivisor;
    return wantsAlways || delayNs > wholeNs / 2 ? Core::Alternating : Core::Given;
}

ThreadActivity ThreadActivities::made(uint32_t row, StatePrecision precision) const {
    const CpuStateTable& states = trace_.cpuStates;
    const ThreadState state = states.state[row];
    const uint32_t stack = states.stack[row];
    ThreadActivity made;
    if (state == ThreadState::Unknown || precision == StatePrecision::Nothing) return made;
    const Core core = coreIn(row);
    if (core == Core::Alternating) {
        // A thread without a core stays where it is.
        const bool isThere = (state == ThreadState::Running || state == ThreadState::Runnable) &&
                             precision == StatePrecision::Whole && stack != noIndex;
        if (isThere) made.frame = ownFrameRef(trace_, stack);
        if (isThere) made.work = workOf(trace_, stack);
        made.observation = Observation::WithoutCore;
        made.state = ThreadState::Runnable;
        return made;
    }
    made.state = state;
    if (states.holder[row] != noIndex) made.holder = threadRef(trace_, states.holder[row]);
    // The place in samples is not the place between them.
    made.observation = Observation::Alternating;
    // Compiling takes longer than the time between samples.
    if (const ThreadWork work = stack == noIndex ? ThreadWork::Unknown : workOf(trace_, stack); isCompiling(work))
        made.work = work;
    if (precision == StatePrecision::Alternating) return made;
    made.observation = Observation::State;
    // A thread without a core gets none whatever its activity.
    if (stack != noIndex && core == Core::Given) made.frame = ownFrameRef(trace_, stack);
    if (stack != noIndex && state == ThreadState::Running) made.work = workOf(trace_, stack);
    if (states.holder[row] != noIndex && states.holderStack[row] != noIndex)
        made.holderFrame = ownFrameRef(trace_, states.holderStack[row]);
    return made;
}

ThreadActivities::Id ThreadActivities::idOf(uint32_t row, StatePrecision precision) {
    const CpuStateTable& states = trace_.cpuStates;
    const auto [known, isNew] = known_.try_emplace(
        {states.state[row], precision, coreIn(row), states.stack[row], states.holder[row], states.holderStack[row]},
        unknown);
    if (!isNew) return known->second;
    ThreadActivity activity = made(row, precision);
    if (activity.observation == Observation::None) return unknown;
    const auto [id, isFirst] = ids_.try_emplace(activity, static_cast<Id>(activities_.size()));
    if (isFirst) activities_.push_back(std::move(activity));
    return known->second = id->second;
}

}  // namespace lanescope::analysis
