// SPDX-License-Identifier: Apache-2.0
#include "model/export/ChromeRows.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/format/GlobalId.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope {

namespace {

/// GPUs stand as processes of their own; Linux gives no process a number as high.
constexpr int64_t firstGpuPid = 0x70000000;
/// Rows that a thread needs besides its own; no thread has a number as high.
constexpr uint32_t firstSpareTid = 0x70000000;
/// More would make a hostile file slow to write.
constexpr size_t mostRows = 64;

struct Interval {
    int64_t startNs;
    int64_t endNs;
    EventRef event;
};

/// By start, what contains others first.
void sortIntervals(std::vector<Interval>& intervals) {
    std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
        if (a.startNs != b.startNs) return a.startNs < b.startNs;
        if (a.endNs != b.endNs) return a.endNs > b.endNs;
        return a.event < b.event;
    });
}

/// Deals sorted intervals out to rows.
class Packer {
  public:
    explicit Packer(bool mayNest) : mayNest_(mayNest) {}

    /// The row, or `mostRows` if there is no room.
    size_t place(const Interval& interval) {
        for (size_t row = 0; row < mostRows; ++row) {
            if (row == openEnds_.size()) openEnds_.emplace_back();
            std::vector<int64_t>& ends = openEnds_[row];
            while (!ends.empty() && ends.back() <= interval.startNs) ends.pop_back();
            if (!ends.empty() && (!mayNest_ || ends.back() < interval.endNs)) continue;
            ends.push_back(interval.endNs);
            return row;
        }
        return mostRows;
    }
    size_t rowCount() const { return openEnds_.size(); }

  private:
    bool mayNest_;
    std::vector<std::vector<int64_t>> openEnds_;  ///< By row, the innermost last.
};

std::string numbered(const std::string& name, size_t row) {
    return row == 0 ? name : fmt::format("{} ({})", name, row + 1);
}

template <class Table>
void collect(const Table& table, EventKind kind, const Column<uint32_t>& subject,
             std::vector<std::vector<Interval>>& intervals) {
    for (uint32_t row = 0; row < table.size(); ++row)
        intervals[subject[row]].push_back(
            {table.startNs[row], table.endNs[row], EventRef(kind, row)});
}

}  // namespace

ChromeRows::ChromeRows(const Trace& trace) : trace_(trace) {
    for (const EventKind kind :
         {EventKind::Api, EventKind::Nvtx, EventKind::Kernel, EventKind::Memcpy, EventKind::Memset})
        tids_[static_cast<size_t>(kind)].assign(trace.rowCount(kind), noTid);
    placeCpu();
    placeGpu();
}

int64_t ChromeRows::pidOfGpu(uint32_t gpu) {
    return firstGpuPid + gpu;
}

int64_t ChromeRows::pidOf(const Process& process) {
    return int64_t{hostOf(process.globalPid)} << 24 | process.pid;
}

ChromeRows::Row ChromeRows::rowOfThread(uint32_t thread) const {
    return {pidOf(trace_.processes[trace_.threads[thread].process]), trace_.threads[thread].tid};
}

ChromeRows::Row ChromeRows::rowOf(EventRef event) const {
    const uint32_t tid = tids_[static_cast<size_t>(event.kind())][event.row()];
    const uint32_t thread = threadOf(trace_, event);
    if (thread != noIndex) return {rowOfThread(thread).pid, tid};
    return {pidOfGpu(gpuOf(trace_, event)), tid};
}

uint32_t& ChromeRows::tidOf(EventRef event) {
    return tids_[static_cast<size_t>(event.kind())][event.row()];
}

void ChromeRows::placeCpu() {
    std::vector<std::vector<Interval>> intervals(trace_.threads.size());
    collect(trace_.apiCalls, EventKind::Api, trace_.apiCalls.thread, intervals);
    const NvtxTable& nvtx = trace_.nvtx;
    for (uint32_t row = 0; row < nvtx.size(); ++row)
        if (nvtx.style[row] == NvtxStyle::PushPop)
            intervals[nvtx.thread[row]].push_back(
                {nvtx.startNs[row], nvtx.endNs[row], EventRef(EventKind::Nvtx, row)});
    uint32_t nextTid = firstSpareTid;
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
        sortIntervals(intervals[thread]);
        Packer packer(true);
        const Row own = rowOfThread(thread);
        for (const Interval& interval : intervals[thread]) {
            const size_t row = packer.place(interval);
            if (row == mostRows) continue;
            tidOf(interval.event) = row == 0 ? own.tid : nextTid + static_cast<uint32_t>(row) - 1;
        }
        names_.push_back({own, trace_.threads[thread].name});
        for (size_t row = 1; row < packer.rowCount(); ++row)
            names_.push_back({{own.pid, nextTid++}, numbered(trace_.threads[thread].name, row)});
    }
}

void ChromeRows::placeGpu() {
    std::vector<std::vector<Interval>> intervals(trace_.streams.size());
    collect(trace_.kernels, EventKind::Kernel, trace_.kernels.stream, intervals);
    collect(trace_.memcpys, EventKind::Memcpy, trace_.memcpys.stream, intervals);
    collect(trace_.memsets, EventKind::Memset, trace_.memsets.stream, intervals);
    // Streams of several processes share a GPU, so their own numbers may come twice.
    uint32_t nextTid = 1;
    for (uint32_t index = 0; index < trace_.streams.size(); ++index) {
        sortIntervals(intervals[index]);
        Packer packer(false);
        for (const Interval& interval : intervals[index]) {
            const size_t row = packer.place(interval);
            if (row == mostRows) continue;
            tidOf(interval.event) = nextTid + static_cast<uint32_t>(row);
        }
        const Stream& stream = trace_.streams[index];
        const uint32_t pid = trace_.processes[stream.process].pid;
        for (size_t row = 0; row < packer.rowCount(); ++row)
            names_.push_back(
                {{pidOfGpu(stream.gpu), nextTid++},
                 fmt::format("{}, PID {}", numbered(fmt::format("Stream {}", stream.streamId), row),
                             pid)});
    }
}

}  // namespace lanescope
