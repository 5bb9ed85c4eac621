// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/codeLines.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/analysis/RunSummary.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

namespace {

using CodeByPlace = std::map<std::string, CodeLine, std::less<>>;

/// Returns all lines by place, without those of two files.
CodeByPlace codeByPlace(const Trace& trace) {
    CodeByPlace codes;
    std::set<FramePlace> seen;
    for (uint32_t frame = 0; frame < trace.stacks.size(); ++frame) {
        if (trace.stacks.code[frame] == 0 || !seen.insert(placeOf(trace, frame)).second) continue;
        const CodeLine line{frameText(trace, frame), placeText(trace, frame),
                            std::string(trace.strings.at(trace.stacks.code[frame]))};
        const auto [known, isNew] = codes.try_emplace(line.place, line);
        if (!isNew && known->second.code != line.code) known->second.code.clear();
    }
    std::erase_if(codes, [](const auto& each) { return each.second.code.empty(); });
    return codes;
}

/// Returns the line that `find` returns for a text or its longest end after a blank; null if there is none.
const CodeLine* lineAtEnd(std::string_view text, auto find) {
    while (true) {
        if (const CodeLine* line = find(text); line != nullptr) return line;
        const size_t blank = text.find(' ');
        if (blank == std::string_view::npos) return nullptr;
        text.remove_prefix(blank + 1);
    }
}

std::set<std::string> placesOf(const WorkerSummary& worker) {
    std::set<std::string> places;
    for (const Contributor& each : worker.contributors) {
        places.insert(each.name.idle.activity.frame.text());
        places.insert(each.name.idle.activity.holderFrame.text());
        places.insert({each.launched.text, each.launched.line});
    }
    for (const KernelGroup& each : worker.kernels) places.insert({each.launched, each.written});
    for (const Distinction& each : worker.distinctions) places.insert(each.name);
    places.erase("");
    return places;
}

}  // namespace

void addCodeLines(const Trace& trace, std::vector<WorkerSummary>& workers) {
    const CodeByPlace codes = codeByPlace(trace);
    if (codes.empty()) return;
    const auto find = [&](std::string_view place) {
        const auto found = codes.find(place);
        return found == codes.end() ? nullptr : &found->second;
    };
    for (WorkerSummary& worker : workers) {
        std::map<std::string_view, const CodeLine*> named;
        for (const std::string& each : placesOf(worker))
            if (const CodeLine* line = lineAtEnd(each, find); line != nullptr) named.emplace(line->place, line);
        for (const auto& [place, line] : named) worker.code.push_back(*line);
    }
}

const CodeLine* codeAt(const WorkerSummary& worker, std::string_view place) {
    return lineAtEnd(place, [&](std::string_view end) {
        const auto found = std::ranges::find(worker.code, end, &CodeLine::place);
        return found == worker.code.end() ? nullptr : &*found;
    });
}

}  // namespace lanescope::analysis
