// SPDX-License-Identifier: Apache-2.0
#include "model/export/threadRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "model/trace/stacks.h"

namespace lanescope {

namespace {

void append(const Lane& lane, uint32_t depth, std::vector<ThreadRow::Slice>& into) {
    for (uint32_t slice = 0; slice < lane.size(); ++slice)
        if (lane.event[slice].isValid())
            into.push_back({{lane.startNs[slice], lane.endNs(slice)},
                            lane.name[slice],
                            depth,
                            lane.event[slice]});
}

}  // namespace

std::vector<ThreadRow> threadRows(const Trace& trace, const Track& track) {
    std::vector<ThreadRow> rows;
    const bool isStack = track.kind == TrackKind::ThreadStacks;
    if (!isStack && track.kind != TrackKind::ThreadStates) return rows;
    const Thread& thread = trace.threads[track.subject];
    const std::string title =
        thread.name.empty() ? fmt::format("Thread {}", thread.tid) : thread.name;
    const auto add = [&](const char* what) {
        ThreadRow& row = rows.emplace_back();
        row.thread = track.subject;
        row.isStack = isStack;
        row.name = fmt::format("{}: {}", title, what);
        return &row;
    };
    if (isStack) {
        ThreadRow& row = *add("stack");
        for (uint32_t depth = 0; depth < track.lanes.size(); ++depth)
            append(track.lanes[depth], depth, row.slices);
        std::ranges::sort(row.slices, {}, [](const ThreadRow::Slice& slice) {
            return std::tuple(slice.times.startNs, slice.depth);
        });
    } else {
        for (size_t lane = 0; lane < track.lanes.size(); ++lane)
            append(track.lanes[lane], 0, add(lane == 0 ? "state" : "calls")->slices);
    }
    std::erase_if(rows, [](const ThreadRow& row) { return row.slices.empty(); });
    return rows;
}

std::vector<std::pair<const char*, std::string>> threadStateFacts(const Trace& trace,
                                                                  uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    std::vector<std::pair<const char*, std::string>> facts;
    if (states.call[row] != 0)
        facts.emplace_back("call", std::string(trace.strings.at(states.call[row])));
    if (states.stack[row] != noIndex)
        facts.emplace_back("line", frameText(trace, states.stack[row]));
    if (states.holder[row] != noIndex) {
        const Thread& holder = trace.threads[states.holder[row]];
        facts.emplace_back("GIL held by",
                           holder.name.empty() ? fmt::format("TID {}", holder.tid) : holder.name);
        if (states.holderStack[row] != noIndex)
            facts.emplace_back("which is at", frameText(trace, states.holderStack[row]));
    }
    return facts;
}

}  // namespace lanescope
