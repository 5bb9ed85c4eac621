// SPDX-License-Identifier: Apache-2.0
#include "model/export/foldedStacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

constexpr std::string_view noStack = "(no Python stack)";

/// Names as a line of folded text can have them.
void append(std::string& line, std::string_view name) {
    if (!line.empty()) line += ';';
    for (const char character : name) {
        const bool ends = character == ';' || character == '\n' || character == '\r';
        line += ends ? ':' : character;
    }
}

std::string frameOf(const Trace& trace, uint32_t frame) {
    const std::string function(trace.strings.at(trace.stacks.function[frame]));
    return trace.stacks.file[frame] == 0
               ? function
               : fmt::format("{} ({})", function, placeText(trace, frame));
}

std::string threadText(const Trace& trace, uint32_t index) {
    const Thread& thread = trace.threads[index];
    return thread.name.empty() ? fmt::format("[thread {}]", thread.tid)
                               : fmt::format("[{}]", thread.name);
}

}  // namespace

void writeFoldedStacks(const Trace& trace, const TextSink& sink) {
    // By stack, the thread that launched for it, and what ran.
    std::map<std::tuple<uint32_t, std::string>, std::unordered_map<std::string, int64_t>> times;
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        std::string lent = work.place.isLent ? threadText(trace, work.thread) : std::string();
        times[{work.place.stack, std::move(lent)}][trace.nameOf(work.work)] +=
            work.times.durationNs();
    });
    std::map<std::string, int64_t> lines;
    for (const auto& [key, names] : times) {
        const auto& [stack, lent] = key;
        std::vector<uint32_t> frames;
        if (stack != noIndex) frames = framesOf(trace, stack);
        std::string begin;
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            append(begin, frameOf(trace, *frame));
        if (frames.empty()) append(begin, noStack);
        if (!lent.empty()) append(begin, lent);
        for (const auto& [name, ns] : names) {
            std::string line = begin;
            append(line, name);
            lines[line] += ns;
        }
    }
    for (const auto& [line, ns] : lines)
        if (!sink(fmt::format("{} {}\n", line, ns))) return;
}

}  // namespace lanescope
