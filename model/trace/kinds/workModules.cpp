// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/workModules.h"

#include <algorithm>
#include <utility>

#include "model/trace/kinds/flows.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// A track has the ranges of one domain.
bool hasPythonFunctionsOnly(const Trace& trace, const Track& track) {
    for (const Lane& lane : track.lanes)
        if (lane.size() > 0 && lane.event.front().kind() == EventKind::Nvtx)
            return isFunctionDomain(trace.strings.at(trace.nvtx.domain[lane.event.front().row()]));
    return false;
}

}  // namespace

OpenRanges::OpenRanges(const Trace& trace, bool hasPythonFunctions)
    : tracksOf_(trace.threads.size()), leaderOf_(trace.processes.size(), noIndex) {
    std::vector<size_t> maxRanges(trace.processes.size(), 0);
    std::vector<size_t> count(trace.threads.size(), 0);
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::ThreadNvtx) continue;
        if (!hasPythonFunctions && hasPythonFunctionsOnly(trace, track)) continue;
        tracksOf_[track.subject].push_back(&track);
        for (const Lane& lane : track.lanes) count[track.subject] += lane.size();
        const uint32_t process = trace.threads[track.subject].process;
        if (count[track.subject] <= maxRanges[process]) continue;
        maxRanges[process] = count[track.subject];
        leaderOf_[process] = track.subject;
    }
}

std::vector<uint32_t> OpenRanges::at(uint32_t thread, int64_t timeNs) const {
    struct Open {
        int64_t startNs, durationNs;
        uint32_t row;
    };
    std::vector<Open> open;
    for (const Track* track : tracksOf_[thread]) {
        for (const Lane& lane : track->lanes) {
            const uint32_t slice = lane.firstEndingAt(timeNs + 1);
            if (slice >= lane.size() || lane.startNs[slice] > timeNs) continue;
            const EventRef range = lane.event[slice];
            if (range.kind() != EventKind::Nvtx) continue;
            open.push_back({lane.startNs[slice], lane.durationNs[slice], range.row()});
        }
    }
    std::ranges::stable_sort(open, {}, [](const Open& each) { return std::pair(each.startNs, -each.durationNs); });
    std::vector<uint32_t> rows;
    for (const Open& each : open) rows.push_back(each.row);
    return rows;
}

namespace {

bool isModule(std::string_view text) { return text.starts_with(moduleRangePrefix); }

/// Returns the class of "Attention.forward", which PyTorch's function for calls of modules called.
std::string_view classOf(const Trace& trace, uint32_t stack) {
    const uint32_t outer = outerStack(trace, stack);
    if (outer == noIndex ||
        !isTorchModuleCall(trace.strings.at(trace.stacks.file[outer]), trace.strings.at(trace.stacks.function[outer])))
        return {};
    const std::string_view function = trace.strings.at(trace.stacks.function[stack]);
    const size_t method = function.rfind('.');
    if (method == std::string_view::npos || function.substr(method) != ".forward") return {};
    const std::string_view type = function.substr(0, method);
    return type.substr(type.rfind('.') + 1);
}

}  // namespace

WorkModules::WorkModules(const Trace& trace) : trace_(trace), ranges_(trace, true) {
    findInStacks();
    const NvtxTable& ranges = trace.nvtx;
    std::vector<bool> isKnown(trace.strings.size(), false);
    for (uint32_t row = 0; row < ranges.size() && !hasRanges_; ++row)
        for (const StringIndex text : {ranges.text[row], ranges.category[row]})
            if (!isKnown[text]) {
                isKnown[text] = true;
                hasRanges_ = hasRanges_ || isModule(trace.strings.at(text));
            }
}

uint32_t WorkModules::child(uint32_t outer, std::string_view name, std::string_view type, std::string_view rangePath) {
    const auto [known, isNew] =
        indexOf_.try_emplace({outer, std::string(name), std::string(type)}, static_cast<uint32_t>(modules_.size()));
    if (isNew) {
        std::string path = outer == noIndex ? std::string() : modules_[outer].path + ".";
        path += name;
        modules_.push_back({outer, std::string(name), std::string(type), std::move(path), std::string(rangePath)});
    }
    return known->second;
}

void WorkModules::findInStacks() {
    const StackTable& stacks = trace_.stacks;
    for (uint32_t stack = 0; stack < stacks.size() && !areRecorded_; ++stack) areRecorded_ = stacks.module[stack] != 0;
    ofStack_.assign(stacks.size(), noIndex);
    for (uint32_t stack = 0; stack < stacks.size(); ++stack) {
        const uint32_t outer = outerStack(trace_, stack);
        uint32_t around = outer == noIndex ? noIndex : ofStack_[outer];
        const std::string_view module = trace_.strings.at(stacks.module[stack]);
        const std::string_view type = areRecorded_ ? module.substr(0, module.find(' ')) : classOf(trace_, stack);
        std::string path(type.size() < module.size() ? module.substr(type.size() + 1) : type);
        if (path == replacedModule && around != noIndex) {
            // As in the model without torch.compile.
            const Module& compiled = modules_[around];
            path = compiled.outer == noIndex ? std::string(type) : compiled.name;
            around = compiled.outer;
        }
        ofStack_[stack] = type.empty() ? around : child(around, path, type);
    }
}

uint32_t WorkModules::inRanges(uint32_t thread, int64_t timeNs, bool isForward) {
    uint32_t module = noIndex;
    const NvtxTable& ranges = trace_.nvtx;
    const std::vector<uint32_t> open = ranges_.at(thread, timeNs);
    for (const uint32_t row : open) {
        std::string_view text = trace_.strings.at(ranges.text[row]);
        const std::string_view category = trace_.strings.at(ranges.category[row]);
        if (isModule(category)) {
            if (text.ends_with(backwardSuffix)) text.remove_suffix(backwardSuffix.size());
            // Names of ranges have the whole path, except that of the model.
            std::string_view name = text;
            const std::string_view around = module == noIndex ? std::string_view() : modules_[module].rangePath;
            if (!around.empty() && name.starts_with(around) && name.substr(around.size()).starts_with("."))
                name.remove_prefix(around.size() + 1);
            const bool isInner = module != noIndex;
            module =
                child(module, name, category.substr(moduleRangePrefix.size()), isInner ? text : std::string_view());
        } else if (isModule(text)) {
            const std::string_view name = text.substr(moduleRangePrefix.size());
            module = child(module, name, name.substr(0, name.rfind('_')));
        }
    }
    if (module != noIndex || isForward) return module;
    for (auto row = open.rbegin(); row != open.rend(); ++row)
        for (const EventRef forward : forwardOf(trace_, {EventKind::Nvtx, *row}))
            return inRanges(ranges.thread[forward.row()], ranges.startNs[forward.row()], true);
    return noIndex;
}

uint32_t WorkModules::of(const LaunchedWork& work) {
    const uint32_t stack = work.place.isLent ? noIndex : work.place.stack;
    if (ofStack(stack) != noIndex) return ofStack(stack);
    if (!hasRanges_ || work.call == noIndex) return noIndex;
    const GraphNodeTable& nodes = trace_.graphNodes;
    const ApiTable& calls = trace_.apiCalls;
    const std::pair<uint32_t, int64_t> at = work.node != noIndex
                                                ? std::pair(nodes.thread[work.node], nodes.timeNs[work.node])
                                                : std::pair(calls.thread[work.call], calls.startNs[work.call]);
    if (at != last_) lastModule_ = inRanges(at.first, at.second, false);
    last_ = at;
    return lastModule_;
}

std::string compiledOperators(const Trace& trace, EventRef work) {
    for (const uint32_t frame : framesOf(trace, pythonPlace(trace, work).stack))
        if (trace.stacks.operators[frame] != 0) return std::string(trace.strings.at(trace.stacks.operators[frame]));
    return {};
}

}  // namespace lanescope
