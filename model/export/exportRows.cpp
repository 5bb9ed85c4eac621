// SPDX-License-Identifier: Apache-2.0
#include "model/export/exportRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "model/format/GlobalId.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/stacks.h"

namespace lanescope {

std::string jsonString(std::string_view text) {
    return withoutControls(
        nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string microseconds(int64_t ns) {
    const uint64_t size = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

namespace {

void append(const Lane& lane, uint32_t depth, std::vector<ThreadRow::Slice>& into) {
    for (uint32_t slice = 0; slice < lane.size(); ++slice)
        if (lane.event[slice].isValid())
            into.push_back({{lane.startNs[slice], lane.endNs(slice)}, lane.name[slice], depth, lane.event[slice]});
}

/// GPUs are written as processes of their own; Linux PIDs are smaller.
constexpr int64_t firstGpuPid = 0x70000000;
/// Additional rows of a thread; thread ids are smaller.
constexpr uint32_t firstSpareTid = 0x70000000;
/// Maximum additional rows of a thread, because more would make a hostile file slow to write.
constexpr size_t maxRows = 64;

struct Interval {
    int64_t startNs;
    int64_t endNs;
    EventRef event;
};

/// Sorts by start, outer intervals first.
void sortIntervals(std::vector<Interval>& intervals) {
    std::ranges::sort(intervals, [](const Interval& a, const Interval& b) {
        if (a.startNs != b.startNs) return a.startNs < b.startNs;
        if (a.endNs != b.endNs) return a.endNs > b.endNs;
        return a.event < b.event;
    });
}

/// Distributes sorted intervals over rows.
class Packer {
  public:
    explicit Packer(bool mayNest) : mayNest_(mayNest) {}

    /// Returns the row, or `maxRows` if there is no room.
    size_t place(const Interval& interval) {
        for (size_t row = 0; row < maxRows; ++row) {
            if (row == openEnds_.size()) openEnds_.emplace_back();
            std::vector<int64_t>& ends = openEnds_[row];
            while (!ends.empty() && ends.back() <= interval.startNs) ends.pop_back();
            if (!ends.empty() && (!mayNest_ || ends.back() < interval.endNs)) continue;
            ends.push_back(interval.endNs);
            return row;
        }
        return maxRows;
    }
    size_t rowCount() const { return openEnds_.size(); }

  private:
    bool mayNest_;
    std::vector<std::vector<int64_t>> openEnds_;  ///< By row, the innermost last.
};

std::string numbered(const std::string& name, size_t row) {
    return row == 0 ? name : fmt::format("{} ({})", name, row + 1);
}

void collect(const auto& table, EventKind kind, const Column<uint32_t>& subject,
             std::vector<std::vector<Interval>>& intervals) {
    for (uint32_t row = 0; row < table.size(); ++row)
        intervals[subject[row]].push_back({table.startNs[row], table.endNs[row], EventRef(kind, row)});
}

}  // namespace

std::vector<ThreadRow> threadRows(const Trace& trace, const Track& track) {
    std::vector<ThreadRow> rows;
    const bool isStack = track.kind == TrackKind::ThreadStacks;
    if (!isStack && track.kind != TrackKind::ThreadStates) return rows;
    const Thread& thread = trace.threads[track.subject];
    const std::string title = thread.name.empty() ? fmt::format("Thread {}", thread.tid) : thread.name;
    const auto add = [&](const char* what) {
        rows.push_back({.thread = track.subject, .isStack = isStack, .name = fmt::format("{}: {}", title, what)});
        return &rows.back();
    };
    if (isStack) {
        ThreadRow& row = *add("stack");
        for (uint32_t depth = 0; depth < track.lanes.size(); ++depth) append(track.lanes[depth], depth, row.slices);
        std::ranges::sort(row.slices, {},
                          [](const ThreadRow::Slice& slice) { return std::tuple(slice.times.startNs, slice.depth); });
    } else {
        for (size_t lane = 0; lane < track.lanes.size(); ++lane)
            append(track.lanes[lane], 0, add(lane == 0 ? "state" : "calls")->slices);
    }
    std::erase_if(rows, [](const ThreadRow& row) { return row.slices.empty(); });
    return rows;
}

std::vector<std::pair<const char*, std::string>> threadStateFacts(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    std::vector<std::pair<const char*, std::string>> facts;
    if (states.call[row] != 0) facts.emplace_back("call", std::string(trace.strings.at(states.call[row])));
    if (states.stack[row] != noIndex) facts.emplace_back("line", frameText(trace, states.stack[row]));
    if (states.holder[row] != noIndex) {
        const Thread& holder = trace.threads[states.holder[row]];
        facts.emplace_back("GIL held by", holder.name.empty() ? fmt::format("TID {}", holder.tid) : holder.name);
        if (states.holderStack[row] != noIndex)
            facts.emplace_back("which is at", frameText(trace, states.holderStack[row]));
    }
    return facts;
}

ExportRows::ExportRows(const Trace& trace) : trace_(trace) {
    for (const EventKind kind :
         {EventKind::Api, EventKind::Nvtx, EventKind::Kernel, EventKind::Memcpy, EventKind::Memset})
        tids_[static_cast<size_t>(kind)].assign(trace.rowCount(kind), noTid);
    placeCpu();
    placeGpu();
}

int64_t ExportRows::pidOfGpu(uint32_t gpu) { return firstGpuPid + gpu; }

int64_t ExportRows::pidOf(const Process& process) { return int64_t{hostOf(process.globalPid)} << 24 | process.pid; }

ExportRows::Row ExportRows::rowOfThread(uint32_t thread) const {
    return {pidOf(trace_.processes[trace_.threads[thread].process]), trace_.threads[thread].tid};
}

ExportRows::Row ExportRows::rowOf(EventRef event) const {
    const uint32_t tid = tids_[static_cast<size_t>(event.kind())][event.row()];
    const uint32_t thread = threadOf(trace_, event);
    if (thread != noIndex) return {rowOfThread(thread).pid, tid};
    return {pidOfGpu(gpuOf(trace_, event)), tid};
}

void ExportRows::placeCpu() {
    std::vector<std::vector<Interval>> intervals(trace_.threads.size());
    collect(trace_.apiCalls, EventKind::Api, trace_.apiCalls.thread, intervals);
    const NvtxTable& nvtx = trace_.nvtx;
    for (uint32_t row = 0; row < nvtx.size(); ++row)
        if (nvtx.style[row] == NvtxStyle::PushPop)
            intervals[nvtx.thread[row]].push_back({nvtx.startNs[row], nvtx.endNs[row], EventRef(EventKind::Nvtx, row)});
    uint32_t nextTid = firstSpareTid;
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
        sortIntervals(intervals[thread]);
        Packer packer(true);
        const Row own = rowOfThread(thread);
        for (const Interval& interval : intervals[thread]) {
            const size_t row = packer.place(interval);
            if (row == maxRows) continue;
            tidOf(interval.event) = row == 0 ? own.tid : nextTid + static_cast<uint32_t>(row) - 1;
        }
        names_.push_back({own, trace_.threads[thread].name});
        for (size_t row = 1; row < packer.rowCount(); ++row)
            names_.push_back({{own.pid, nextTid++}, numbered(trace_.threads[thread].name, row)});
    }
}

void ExportRows::placeGpu() {
    std::vector<std::vector<Interval>> intervals(trace_.streams.size());
    collect(trace_.kernels, EventKind::Kernel, trace_.kernels.stream, intervals);
    collect(trace_.memcpys, EventKind::Memcpy, trace_.memcpys.stream, intervals);
    collect(trace_.memsets, EventKind::Memset, trace_.memsets.stream, intervals);
    // Streams of several processes share a GPU, so their own numbers may occur twice.
    uint32_t nextTid = 1;
    for (uint32_t index = 0; index < trace_.streams.size(); ++index) {
        sortIntervals(intervals[index]);
        Packer packer(false);
        for (const Interval& interval : intervals[index]) {
            const size_t row = packer.place(interval);
            if (row == maxRows) continue;
            tidOf(interval.event) = nextTid + static_cast<uint32_t>(row);
        }
        const Stream& stream = trace_.streams[index];
        const uint32_t pid = trace_.processes[stream.process].pid;
        for (size_t row = 0; row < packer.rowCount(); ++row)
            names_.push_back(
                {{pidOfGpu(stream.gpu), nextTid++},
                 fmt::format("{}, PID {}", numbered(fmt::format("Stream {}", stream.streamId), row), pid)});
    }
}

}  // namespace lanescope
