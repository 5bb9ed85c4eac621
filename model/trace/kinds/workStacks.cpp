// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/workStacks.h"

#include <array>
#include <map>

#include "model/trace/kinds/allKinds.h"
#include "model/trace/stacks.h"

namespace lanescope {

std::string pythonLine(const Trace& trace, EventRef event) {
    const EventRef call = event.kind() == EventKind::Api ? event : trace.launchingCall(event);
    if (call.kind() != EventKind::Api || call.row() >= trace.apiCalls.size()) return {};
    const uint32_t stack = trace.apiCalls.stack[call.row()];
    if (stack >= trace.stacks.size()) return {};
    const std::string text = frameText(trace, ownFrame(trace, stack));
    return trace.apiCalls.isStackLent[call.row()] != 0 ? "called from " + text : text;
}

void forEachLaunchedWork(const Trace& trace,
                         const std::function<void(const LaunchedWork&)>& visit) {
    std::array<std::vector<uint32_t>, EventRef::kindLimit> callOf;
    forEachKind([&](auto each) {
        if constexpr (each.isGpuWork)
            callOf[static_cast<size_t>(each.kind)].assign(each.size(trace), noIndex);
    });
    forEachLaunch(trace, [&](uint32_t call, EventRef work) {
        std::vector<uint32_t>& calls = callOf[static_cast<size_t>(work.kind())];
        if (work.row() < calls.size()) calls[work.row()] = call;
    });
    forEachKind([&](auto each) {
        if constexpr (each.isGpuWork) {
            const std::vector<uint32_t>& calls = callOf[static_cast<size_t>(each.kind)];
            for (uint32_t row = 0; row < calls.size(); ++row) {
                LaunchedWork work{EventRef(each.kind, row), each.rangeOf(trace, row),
                                  each.gpuOf(trace, row), calls[row]};
                if (work.call != noIndex) {
                    work.stack = trace.apiCalls.stack[work.call];
                    work.isStackLent = trace.apiCalls.isStackLent[work.call] != 0;
                }
                visit(work);
            }
        }
    });
}

std::vector<uint32_t> ownPlaces(const Trace& trace) {
    const uint32_t count = trace.stacks.size();
    std::vector<uint32_t> own(count, noIndex);
    std::map<StringIndex, bool> areLibraries;
    const auto isOwn = [&](uint32_t stack) {
        const StringIndex file = trace.stacks.file[stack];
        const auto [known, isNew] = areLibraries.try_emplace(file, false);
        if (isNew) known->second = isLibraryFile(trace.strings.at(file));
        return !known->second;
    };
    // What stands further out was looked at before.
    for (uint32_t stack = 0; stack < count; ++stack) {
        const uint32_t outer = outerStack(trace, stack);
        own[stack] = isOwn(stack) ? stack : outer == noIndex ? noIndex : own[outer];
    }
    std::map<FramePlace, uint32_t> firstOf;
    for (uint32_t stack = 0; stack < count; ++stack) {
        const uint32_t frame = own[stack] == noIndex ? stack : own[stack];
        own[stack] = firstOf.try_emplace(placeOf(trace, frame), frame).first->second;
    }
    return own;
}

}  // namespace lanescope
