// SPDX-License-Identifier: Apache-2.0
#include "model/flame/makeFlame.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "model/flame/RangeTree.h"
#include "model/flame/WorkNames.h"
#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

constexpr std::string_view noStack = "(no Python stack)";

std::string threadName(const Thread& thread) {
    return thread.name.empty() ? fmt::format("[thread {}]", thread.tid)
                               : fmt::format("[{}]", thread.name);
}

/// Where each stack of a trace stands in a tree. A stack is its caller's and one frame more, so
/// each frame is looked at once, however deep the stacks are.
class StackPlaces {
  public:
    StackPlaces(const Trace& trace, FlameBase base, FlameTree& tree)
        : trace_(trace), base_(base), tree_(tree), places_(trace.stacks.size(), noIndex) {}

    uint32_t of(uint32_t stack) {
        if (stack >= places_.size())
            return tree_.child(0, tree_.nameNumber(noStack), {.kind = FrameKind::Unknown});
        std::vector<uint32_t> missing;
        uint32_t at = stack;
        while (at != noIndex && places_[at] == noIndex) {
            missing.push_back(at);
            at = outerStack(trace_, at);
        }
        uint32_t place = at == noIndex ? 0 : places_[at];
        for (auto frame = missing.rbegin(); frame != missing.rend(); ++frame)
            place = places_[*frame] = within(place, *frame);
        return place;
    }

  private:
    uint32_t within(uint32_t outer, uint32_t frame) {
        const std::string_view file = trace_.strings.at(trace_.stacks.file[frame]);
        const bool isLibrary = trace_.stacks.file[frame] != 0 && isLibraryFile(file);
        return tree_.child(
            outer, tree_.nameNumber(nameOf(frame, file)),
            {.kind = isLibrary ? FrameKind::LibraryFunction : FrameKind::Function, .stack = frame});
    }
    std::string nameOf(uint32_t frame, std::string_view file) const {
        const std::string_view function = trace_.strings.at(trace_.stacks.function[frame]);
        if (trace_.stacks.file[frame] == 0) return std::string(function);
        return base_ == FlameBase::Lines
                   ? fmt::format("{} ({})", function, placeText(trace_, frame))
                   : fmt::format("{} ({})", function, file.substr(file.rfind('/') + 1));
    }

    const Trace& trace_;
    FlameBase base_;
    FlameTree& tree_;
    std::vector<uint32_t> places_;
};

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
            place = tree.child(place, tree.nameNumber(threadName(trace.threads[work.thread])),
                               {.kind = FrameKind::Thread});
        tree.addTime(tree.child(place, works.numberOf(work.work), works.frameOf(work.work)), ns);
    });
    tree.arrange();
    return tree;
}

/// Names as a line of folded text can have them.
void append(std::string& line, std::string_view name) {
    if (!line.empty()) line += ';';
    for (const char character : name) {
        const bool ends = character == ';' || character == '\n' || character == '\r';
        line += ends ? ':' : character;
    }
}

}  // namespace

std::string_view describe(FlameBase base) {
    switch (base) {
        case FlameBase::Lines:
            return "time on GPUs over Python lines";
        case FlameBase::Functions:
            return "time on GPUs over Python functions";
        case FlameBase::Ranges:
            break;
    }
    return "time on GPUs over ranges";
}

bool hasBase(const Trace& trace, FlameBase base) {
    return base == FlameBase::Ranges ? trace.nvtx.size() > 0 : trace.stacks.size() > 0;
}

FlameTree makeFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    return base == FlameBase::Ranges ? makeRangeTree(trace, {.range = range}).tree
                                     : flameOfStacks(trace, base, range);
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
        lines[line] += tree.nodes()[index].selfNs;
    }
    for (const auto& [line, ns] : lines)
        if (!sink(fmt::format("{} {}\n", line, ns))) return;
}

}  // namespace lanescope
