// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/workStacks.h"

#include <array>
#include <map>

#include "model/trace/kinds/allKinds.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// What a row of `table` says of its stack, if the trace has that.
template <class Table>
PythonPlace placeIn(const Trace& trace, const Table& table, uint32_t row) {
    if (row >= table.size() || table.stack[row] >= trace.stacks.size()) return {};
    return {table.stack[row], table.isStackLent[row] != 0, false};
}

/// Where a node was captured; no place if `node` is `noIndex`.
PythonPlace placeOfNode(const Trace& trace, uint32_t node) {
    PythonPlace place = placeIn(trace, trace.graphNodes, node);
    place.isCaptured = place.stack != noIndex;
    return place;
}

}  // namespace

uint32_t graphNodeOf(const Trace& trace, EventRef kernel) {
    if (kernel.kind() != EventKind::Kernel || kernel.row() >= trace.kernels.size() ||
        trace.graphNodes.size() == 0)
        return noIndex;
    const uint64_t node = trace.kernels.graphNode[kernel.row()];
    if (node == 0) return noIndex;
    return graphNodeRow(trace, trace.streams[trace.kernels.stream[kernel.row()]].process, node);
}

PythonPlace pythonPlace(const Trace& trace, EventRef event) {
    if (event.kind() == EventKind::Nvtx) return placeIn(trace, trace.nvtx, event.row());
    if (event.kind() == EventKind::Projection && event.row() < trace.projections.size())
        return placeIn(trace, trace.nvtx, trace.projections.nvtx[event.row()]);
    const PythonPlace captured = placeOfNode(trace, graphNodeOf(trace, event));
    if (captured.stack != noIndex) return captured;
    const EventRef call = event.kind() == EventKind::Api ? event : trace.launchingCall(event);
    if (call.kind() != EventKind::Api) return {};
    return placeIn(trace, trace.apiCalls, call.row());
}

std::string pythonLine(const Trace& trace, EventRef event) {
    const PythonPlace place = pythonPlace(trace, event);
    if (place.stack == noIndex) return {};
    const std::string text = frameText(trace, ownFrame(trace, place.stack));
    if (place.isCaptured)
        return (place.isLent ? "called at capture from: " : "called at capture: ") + text;
    return place.isLent ? "called from " + text : text;
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
                    work.place = placeIn(trace, trace.apiCalls, work.call);
                    work.thread = trace.apiCalls.thread[work.call];
                }
                const uint32_t node = graphNodeOf(trace, work.work);
                if (const PythonPlace captured = placeOfNode(trace, node);
                    captured.stack != noIndex) {
                    work.place = captured;
                    work.thread = trace.graphNodes.thread[node];
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
