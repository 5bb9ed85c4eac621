// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StateWords.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/analysis/rangePattern.h"
#include "model/format/threadStates.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

namespace {

/// An unnamed thread that is not the first of its process.
constexpr std::string_view otherThread = "another thread";
/// Separators between place, activity and the holder of the awaited resource.
constexpr std::string_view whichDoes = ", which ", thatHas = " that ";
/// Python files whose functions on a stack reveal the activity of a thread: files in which code is
/// compiled, not files in which the compiled code runs.
constexpr std::pair<std::string_view, std::string_view> tellingFiles[]{
    {"/torch/_dynamo/convert_frame.py", "compiling (torch._dynamo)"},
    {"/torch/_inductor/compile_fx.py", "compiling (torch._inductor)"},
    {"/triton/compiler/compiler.py", "compiling (Triton)"},
    {"/jax/_src/compiler.py", "compiling (JAX)"},
    {"/torch/utils/data/dataloader.py", "loading data (torch.utils.data)"},
    {"/torch/optim/optimizer.py", "in the optimizer (torch.optim)"},
};
constexpr std::string_view byTurns = "by turns runs and ", getsNone = "gets no core";
/// For a thread that samples saw running, which cannot have run all the time.
constexpr std::string_view waits = "waits";

/// Share of the time between samples. Shorter times with or without a core are not reported.
constexpr int64_t negligibleDivisor = 10;

/// Returns ", compiling (torch._dynamo)" for the outermost of such frames; empty without any.
std::string aboutText(const Trace& trace, uint32_t stack) {
    if (stack < trace.stacks.size() &&
        trace.strings.at(trace.stacks.function[stack]) == garbageCollectionFrame)
        return ", in Python's garbage collection";
    std::string text;
    for (uint32_t frame = stack; frame < trace.stacks.size(); frame = outerStack(trace, frame)) {
        const std::string_view file = trace.strings.at(trace.stacks.file[frame]);
        for (const auto& [ending, about] : tellingFiles)
            if (file.ends_with(ending)) text = fmt::format(", {}", about);
    }
    return text;
}

}  // namespace

std::string threadText(const Trace& trace, uint32_t thread) {
    const Thread& which = trace.threads[thread];
    if (which.tid == trace.processes[which.process].pid) return "main thread";
    if (which.name.empty()) return std::string(otherThread);
    return fmt::format("thread {}", rangePattern(which.name));
}

std::string onThread(const Trace& trace, uint32_t thread) {
    const std::string which = threadText(trace, thread);
    return (which == otherThread ? "on " : "on the ") + which;
}

std::string timesText(const Trace& trace, const ThreadTimes& times, int64_t wholeNs) {
    std::vector<ThreadState> states;
    constexpr double minShownPercent = 3;
    const auto percent = [&](ThreadState state) {
        return wholeNs > 0
                   ? 100 * static_cast<double>(times.of(state)) / static_cast<double>(wholeNs)
                   : 0.0;
    };
    for (size_t state = 1; state < threadStateCount; ++state)
        if (percent(static_cast<ThreadState>(state)) >= minShownPercent)
            states.push_back(static_cast<ThreadState>(state));
    std::ranges::stable_sort(
        states, [&](ThreadState a, ThreadState b) { return times.of(a) > times.of(b); });
    std::string text;
    for (const ThreadState state : states)
        text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", percent(state),
                            nameOf(state).meaning);
    if (times.stack != noIndex && !text.empty())
        text += "; at " + frameText(trace, ownFrame(trace, times.stack));
    if (times.holder != noIndex && !text.empty()) {
        text += "; the GIL has the " + threadText(trace, times.holder);
        if (times.holderStack != noIndex)
            text += " at " + frameText(trace, ownFrame(trace, times.holderStack));
    }
    return text;
}

bool runsAndWaits(std::string_view name) {
    const size_t at = name.rfind(whichDoes);
    if (at == std::string_view::npos) return false;
    const std::string_view told = name.substr(at + whichDoes.size());
    return told.starts_with(byTurns) && told.substr(byTurns.size()) != getsNone;
}

bool runsAndWaitsAlternately(std::string_view name) {
    return runsAndWaits(name) && !name.substr(name.rfind(byTurns) + byTurns.size())
                                      .starts_with(nameOf(ThreadState::Lock).meaning);
}

std::optional<ThreadState> stateInName(std::string_view name) {
    const size_t at = name.rfind(whichDoes);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view told = name.substr(at + whichDoes.size());
    for (size_t number = 1; number < threadStateCount; ++number) {
        const auto state = static_cast<ThreadState>(number);
        if (!told.starts_with(nameOf(state).meaning)) continue;
        const std::string_view rest = told.substr(nameOf(state).meaning.size());
        if (rest.empty() || rest.starts_with(thatHas)) return state;
    }
    return std::nullopt;
}

bool isMostlyWithoutCore(std::string_view name) {
    const size_t at = name.rfind(whichDoes);
    if (at == std::string_view::npos) return false;
    const std::string_view told = name.substr(at + whichDoes.size());
    return told.starts_with(byTurns) && told.substr(byTurns.size()) == getsNone;
}

bool isSeenRunning(std::string_view name) {
    if (stateInName(name) == ThreadState::Running) return true;
    const size_t at = name.rfind(byTurns);
    return isMostlyWithoutCore(name) ||
           (runsAndWaits(name) && name.substr(at + byTurns.size()) == waits);
}

std::string_view nameWithoutState(std::string_view name) {
    return name.substr(0, name.rfind(whichDoes));
}

Intervals StateWords::notAwaitingData(uint32_t thread, TimeRange range) const {
    if (states_.isEmpty(thread)) return {};
    Intervals awaiting;
    states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
        switch (trace_.cpuStates.state[row]) {
            case ThreadState::Poll:
            case ThreadState::Disk:
            case ThreadState::Lock:
            case ThreadState::Child:
                awaiting.push_back({piece.startNs, piece.endNs, 0});
                break;
            default:
                break;
        }
    });
    const Intervals whole{{range.startNs, range.endNs, 0}};
    return without(whole, withoutOverlaps(std::move(awaiting)));
}

StateWords::Core StateWords::coreIn(uint32_t row) const {
    const CpuStateTable& states = trace_.cpuStates;
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    const int64_t delayNs = states.delayNs[row];
    const ThreadState state = states.state[row];
    if (state == ThreadState::Runnable)
        return states.cpuNs[row] > wholeNs / negligibleDivisor ? Core::Alternating : Core::None;
    // A thread that also waits is described by its waits unless it wanted a core most of the time.
    const bool wantsAlways = state == ThreadState::Running &&
                             delayNs > wholeNs / negligibleDivisor &&
                             delayNs + states.cpuNs[row] > wholeNs - wholeNs / negligibleDivisor;
    return wantsAlways || delayNs > wholeNs / 2 ? Core::Alternating : Core::Given;
}

std::string StateWords::holderText(uint32_t row) const {
    const uint32_t holder = trace_.cpuStates.holder[row];
    if (holder == noIndex) return {};
    const std::string who = threadText(trace_, holder);
    return fmt::format("{}{}{} has", thatHas, who == otherThread ? "" : "the ", who);
}

std::string StateWords::made(uint32_t row, StatePrecision telling) const {
    const CpuStateTable& states = trace_.cpuStates;
    const ThreadState state = states.state[row];
    if (state == ThreadState::Unknown || telling == StatePrecision::Nothing) return {};
    const Core core = coreIn(row);
    if (core == Core::Alternating) {
        // A thread without a core stays where it is.
        const bool isThere = (state == ThreadState::Running || state == ThreadState::Runnable) &&
                             telling == StatePrecision::Whole && states.stack[row] != noIndex;
        std::string text;
        if (isThere) text += " at " + frameText(trace_, ownFrame(trace_, states.stack[row]));
        if (isThere) text += aboutText(trace_, states.stack[row]);
        return text + fmt::format("{}{}{}", whichDoes, byTurns, getsNone);
    }
    // The place in samples is not the place between them.
    if (telling == StatePrecision::Alternating)
        return fmt::format("{}{}{}{}", whichDoes, byTurns,
                           state == ThreadState::Running ? waits : nameOf(state).meaning,
                           holderText(row));
    std::string text;
    // A thread without a core gets none whatever its activity.
    if (states.stack[row] != noIndex && core == Core::Given)
        text += " at " + frameText(trace_, ownFrame(trace_, states.stack[row]));
    if (states.stack[row] != noIndex && state == ThreadState::Running)
        text += aboutText(trace_, states.stack[row]);
    text += whichDoes;
    text += nameOf(state).meaning;
    text += holderText(row);
    if (states.holder[row] != noIndex && states.holderStack[row] != noIndex)
        text += " at " + frameText(trace_, ownFrame(trace_, states.holderStack[row]));
    return text;
}

std::string_view StateWords::wordsOf(uint32_t row, StatePrecision telling) {
    const CpuStateTable& states = trace_.cpuStates;
    const auto [known, isNew] =
        known_.try_emplace({states.state[row], telling, coreIn(row), states.stack[row],
                            states.holder[row], states.holderStack[row]});
    if (isNew) known->second = made(row, telling);
    return known->second;
}

}  // namespace lanescope::analysis
