// SPDX-License-Identifier: Apache-2.0
#include "model/flame/makeFlame.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "model/flame/OpenRanges.h"
#include "model/steps/rangePattern.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"
#include "model/values/knownRangeName.h"

namespace lanescope {

namespace {

constexpr std::string_view noStack = "(no Python stack)";
constexpr std::string_view noRange = "(no range)";

/// The names of a trace as numbers of a tree, each text made once.
class Names {
  public:
    Names(const Trace& trace, FlameTree& tree) : trace_(trace), tree_(tree) {}

    /// What ran, as a frame within `parent`.
    uint32_t workWithin(uint32_t parent, EventRef event) {
        return visitKind(event.kind(), [&](auto each) {
            const uint64_t key =
                keyOf(each, event.row()) << 8 | static_cast<uint64_t>(event.kind());
            const auto [known, isNew] = works_.try_emplace(key, 0);
            if (isNew) known->second = tree_.nameNumber(textOf(each, event.row()));
            return tree_.child(
                parent, known->second,
                {.kind = FrameKind::Work, .category = each.categoryOf(trace_, event.row())});
        });
    }
    uint32_t range(StringIndex text) {
        const auto [known, isNew] = ranges_.try_emplace(text, 0);
        if (isNew) {
            const std::string_view whole = trace_.strings.at(text);
            const std::string brief = knownRangeName(whole);
            known->second =
                tree_.nameNumber(rangePattern(brief.empty() ? whole : std::string_view(brief)));
        }
        return known->second;
    }
    uint32_t thread(uint32_t index) {
        const Thread& thread = trace_.threads[index];
        return tree_.nameNumber(thread.name.empty() ? fmt::format("[thread {}]", thread.tid)
                                                    : fmt::format("[{}]", thread.name));
    }

  private:
    // Work of equal keys is called the same. Copies are one by direction, whatever their bytes, and
    // called what they are searched by.
    uint64_t keyOf(kinds::Kernel, uint32_t row) const { return trace_.kernels.config[row]; }
    uint64_t keyOf(kinds::Memcpy, uint32_t row) const {
        return static_cast<uint64_t>(trace_.memcpys.kind[row]);
    }
    template <class Kind>
    uint64_t keyOf(Kind, uint32_t row) const {
        if constexpr (requires { Kind::nameKey(trace_, row); })
            return Kind::nameKey(trace_, row);
        else
            return 0;  // one name for all of the kind
    }
    std::string textOf(kinds::Memcpy, uint32_t row) const {
        return std::string(searchName(trace_.memcpys.kind[row]));
    }
    std::string textOf(kinds::Memset, uint32_t) const { return "memset"; }
    template <class Kind>
    std::string textOf(Kind, uint32_t row) const {
        return Kind::nameOf(trace_, row);
    }

    const Trace& trace_;
    FlameTree& tree_;
    MixedMap<uint64_t, uint32_t> works_, ranges_;
};

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
    Names names(trace, tree);
    StackPlaces places(trace, base, tree);
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        const int64_t ns = countedNs(work, range);
        if (ns <= 0) return;
        uint32_t place = places.of(work.place.stack);
        if (work.place.isLent)
            place = tree.child(place, names.thread(work.thread), {.kind = FrameKind::Thread});
        tree.addTime(names.workWithin(place, work.work), ns);
    });
    tree.arrange();
    return tree;
}

FlameTree flameOfRanges(const Trace& trace, std::optional<TimeRange> range) {
    FlameTree tree;
    Names names(trace, tree);
    const OpenRanges ranges(trace);
    const FlameTree::Frame frame{.kind = FrameKind::Range, .category = SliceCategory::Nvtx};
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        const int64_t ns = countedNs(work, range);
        if (ns <= 0) return;
        uint32_t place = 0;
        if (work.call != noIndex)
            for (const StringIndex open :
                 ranges.at(trace.apiCalls.thread[work.call], trace.apiCalls.startNs[work.call]))
                place = tree.child(place, names.range(open), frame);
        if (place == 0)
            place = tree.child(0, tree.nameNumber(noRange), {.kind = FrameKind::Unknown});
        tree.addTime(names.workWithin(place, work.work), ns);
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
    return base == FlameBase::Ranges ? flameOfRanges(trace, range)
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
