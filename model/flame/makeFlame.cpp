// SPDX-License-Identifier: Apache-2.0
#include "model/flame/makeFlame.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/flame/RangeTree.h"
#include "model/flame/StackPlaces.h"
#include "model/flame/WorkNames.h"
#include "model/trace/kinds/workStacks.h"
#include "model/values/Statistics.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

std::string frameOf(const Thread& thread) {
    return thread.name.empty() ? fmt::format("[thread {}]", thread.tid)
                               : fmt::format("[{}]", thread.name);
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
            place = tree.child(place, tree.nameNumber(frameOf(trace.threads[work.thread])),
                               {.kind = FrameKind::Thread});
        tree.addTime(tree.child(place, works.numberOf(work.work), works.frameOf(work.work)), ns);
    });
    tree.arrange();
    return tree;
}

/// Names as a line of folded text can have them: its semicolons part frames, its end parts paths.
void append(std::string& line, std::string_view name) {
    if (!line.empty()) line += ';';
    std::string frame = printable(name);
    std::ranges::replace(frame, ';', ':');
    line += frame;
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
        lines[line] = saturatingSum(lines[line], tree.nodes()[index].selfNs);
    }
    for (const auto& [line, ns] : lines)
        if (!sink(fmt::format("{} {}\n", line, ns))) return;
}

}  // namespace lanescope
