// SPDX-License-Identifier: Apache-2.0
#include "model/flame/makeFlame.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "model/flame/RangeTree.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/kinds/workStacks.h"
#include "model/trace/processes.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

std::string frameOf(const Thread& thread) {
    return thread.name.empty() ? fmt::format("[thread {}]", thread.tid) : fmt::format("[{}]", thread.name);
}

int64_t countedNs(const LaunchedWork& work, const std::optional<TimeRange>& range) {
    return (range ? work.times.intersected(*range) : work.times).durationNs();
}

FlameTree flameOfStacks(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    FlameTree tree;
    WorkNames works(trace, tree);
    StackPlaces places(trace, base, tree);
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        const int64_t ns = countedNs(work, range);
        if (ns <= 0) return;
        uint32_t place = places.of(work.place.stack);
        if (work.place.isLent)
            place =
                tree.child(place, tree.nameNumber(frameOf(trace.threads[work.thread])), {.kind = FrameKind::Thread});
        tree.addTime(tree.child(place, works.numberOf(work.work), works.frameOf(work.work)), ns);
    });
    tree.arrange();
    return tree;
}

FlameTree flameOfModules(const Trace& trace, std::optional<TimeRange> range) {
    FlameTree tree;
    WorkNames works(trace, tree);
    WorkModules modules(trace);
    std::vector<uint32_t> nodeOf;  // by module
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        const int64_t ns = countedNs(work, range);
        if (ns <= 0) return;
        uint32_t place = 0;
        if (const uint32_t module = modules.of(work); module == noIndex) {
            place = tree.child(0, tree.nameNumber("(no module)"), {.kind = FrameKind::Unknown});
        } else {
            // Outer modules precede inner ones.
            for (auto next = static_cast<uint32_t>(nodeOf.size()); next < modules.modules().size(); ++next) {
                const Module& each = modules.modules()[next];
                const std::string name = each.type.empty() || each.type == each.name
                                             ? each.name
                                             : fmt::format("{} ({})", each.name, each.type);
                nodeOf.push_back(tree.child(each.outer == noIndex ? 0 : nodeOf[each.outer], tree.nameNumber(name), {}));
            }
            place = nodeOf[module];
        }
        tree.addTime(tree.child(place, works.numberOf(work.work), works.frameOf(work.work)), ns);
    });
    tree.arrange();
    return tree;
}

/// Appends a name for folded text, where semicolons separate frames and line ends separate paths.
void append(std::string& line, std::string_view name) {
    if (!line.empty()) line += ';';
    std::string frame = printable(name);
    std::ranges::replace(frame, ';', ':');
    line += frame;
}

constexpr std::string_view noStack = "(no Python stack)";

std::string processName(const Process& process) {
    return process.rank ? fmt::format("{} (rank {}, PID {})", process.name, *process.rank, process.pid)
                        : fmt::format("{} (PID {})", process.name, process.pid);
}

std::string threadName(const Thread& thread) {
    return thread.name.empty() ? fmt::format("thread {}", thread.tid)
                               : fmt::format("{} (TID {})", thread.name, thread.tid);
}

}  // namespace

std::string_view describe(FlameBase base) {
    return enumText(
        base, {"GPU time by Python line", "GPU time by Python function", "GPU time by range", "GPU time by module"});
}

bool hasBase(const Trace& trace, FlameBase base) {
    if (base == FlameBase::Modules) return !WorkModules(trace).isEmpty();
    return base == FlameBase::Ranges ? trace.nvtx.size() > 0 : trace.stacks.size() > 0;
}

FlameTree makeFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    if (base == FlameBase::Modules) return flameOfModules(trace, range);
    return base == FlameBase::Ranges ? makeRangeTree(trace, {.range = range}).tree : flameOfStacks(trace, base, range);
}

void writeFolded(const FlameTree& tree, uint32_t root, const TextSink& sink) {
    std::map<std::string, int64_t> lines;
    std::vector<bool> isWithin(tree.nodes().size(), false);
    for (uint32_t index = root; index < tree.nodes().size(); ++index) {
        const FlameTree::Node& node = tree.nodes()[index];
        isWithin[index] = index == root || isWithin[node.parent];
        if (!isWithin[index] || node.selfNs <= 0) continue;
        std::string line;
        for (const uint32_t frame : tree.pathTo(index))
            if (frame != 0) append(line, tree.nameOf(frame));
        lines[line] = saturatingSum(lines[line], tree.nodes()[index].selfNs);
    }
    for (const auto& [line, ns] : lines)
        if (!sink(fmt::format("{} {}\n", line, ns))) return;
}

uint32_t StackPlaces::of(uint32_t stack) {
    if (stack >= trace_.stacks.size())
        return tree_.child(root_, tree_.nameNumber(noStack), {.kind = FrameKind::Unknown});
    std::vector<uint32_t> missing;
    uint32_t at = stack;
    while (at != noIndex && !places_.contains(at)) {
        missing.push_back(at);
        at = outerStack(trace_, at);
    }
    uint32_t place = at == noIndex ? root_ : places_[at];
    for (auto frame = missing.rbegin(); frame != missing.rend(); ++frame)
        place = places_[*frame] = within(place, *frame);
    return place;
}

uint32_t StackPlaces::within(uint32_t outer, uint32_t frame) {
    const std::string_view file = trace_.strings.at(trace_.stacks.file[frame]);
    const bool isLibrary = trace_.stacks.file[frame] != 0 && isLibraryFile(file);
    return tree_.child(outer, tree_.nameNumber(nameOf(frame, file)),
                       {.kind = isLibrary ? FrameKind::LibraryFunction : FrameKind::Function, .stack = frame});
}

std::string StackPlaces::nameOf(uint32_t frame, std::string_view file) const {
    const std::string_view function = trace_.strings.at(trace_.stacks.function[frame]);
    if (trace_.stacks.file[frame] == 0) return std::string(function);
    return base_ == FlameBase::Lines ? fmt::format("{} ({})", function, placeText(trace_, frame))
                                     : fmt::format("{} ({})", function, file.substr(file.rfind('/') + 1));
}

FlameTree makeThreadFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    FlameTree tree;
    const CpuStateTable& states = trace.cpuStates;
    std::vector<bool> isSampled(trace.threads.size(), false);
    for (uint32_t row = 0; row < states.size(); ++row)
        if (states.source[row] == StateSource::Samples) isSampled[states.thread[row]] = true;
    std::vector<std::unique_ptr<StackPlaces>> places(trace.threads.size());
    for (uint32_t row = 0; row < states.size(); ++row) {
        const StateSource source = states.source[row];
        const uint32_t number = states.thread[row];
        // Calls overlap with sampled states, and samples are better for running threads.
        if (source == StateSource::Calls || isAgentThread(trace.threads[number])) continue;
        if (isSampled[number] && source != StateSource::Samples && !isWaiting(states.state[row])) continue;
        TimeRange times{states.startNs[row], states.endNs[row]};
        if (range) times = times.intersected(*range);
        if (times.durationNs() <= 0) continue;
        if (!places[number]) {
            const Thread& thread = trace.threads[number];
            const uint32_t process = tree.child(0, tree.nameNumber(processName(trace.processes[thread.process])),
                                                {.kind = FrameKind::Thread});
            places[number] = std::make_unique<StackPlaces>(
                trace, base, tree,
                tree.child(process, tree.nameNumber(threadName(thread)), {.kind = FrameKind::Thread}));
        }
        uint32_t place = places[number]->of(states.stack[row]);
        const bool mixed = isMixed(trace, row);
        if (states.state[row] != ThreadState::Running || mixed)
            place = tree.child(place, tree.nameNumber(fmt::format("[{}]", stateText(states.state[row], mixed))),
                               {.kind = FrameKind::Work, .category = kinds::CpuState::categoryOf(trace, row)});
        tree.addTime(place, times.durationNs());
    }
    tree.arrange();
    return tree;
}

}  // namespace lanescope
