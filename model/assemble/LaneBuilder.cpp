// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/LaneBuilder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>

#include "model/numbers/LargeMemory.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

uint64_t keyOf(int64_t bytes, MemcpyKind kind, bool isMemset) {
    return static_cast<uint64_t>(bytes) << 8 | static_cast<uint64_t>(kind) << 1 | (isMemset ? 1 : 0);
}

StringIndex textOf(const auto& names, auto key) {
    const auto found = names.find(key);
    return found != names.end() ? found->second : 0;
}

/// Distributes GPU work over its streams, all kinds together in order of start.
class GpuWorkCollector {
  public:
    GpuWorkCollector(const Trace& trace, const WorkNames& names, const std::stop_token& stop)
        : trace_(trace),
          names_(names),
          stop_(stop),
          waits_(trace),
          builders_(trace.streams.size(), LaneBuilder(Packing::Compact, trace.memory.get())) {
        for (const LaunchConfig& config : trace.launchConfigs) {
            kernelName_.push_back(kinds::Kernel::nameIndex(config));
            kernelCategory_.push_back(kinds::Kernel::categoryOf(config));
        }
    }

    std::vector<LaneBuilder> collect() {
        int64_t untilNs = 0;
        while (const auto kind = earliest(untilNs)) {
            if (stop_.stop_requested()) break;
            visitKind(*kind, [&](auto each) {
                if constexpr (each.isGpuWork) take(each, untilNs);
            });
        }
        return std::move(builders_);
    }

  private:
    /// Returns the kind whose next row starts first. Sets `untilNs` to the start of the next row of any other kind.
    std::optional<EventKind> earliest(int64_t& untilNs) const {
        std::optional<EventKind> first;
        int64_t firstNs = 0;
        untilNs = std::numeric_limits<int64_t>::max();
        const auto consider = [&](const auto& table, uint32_t row, EventKind kind) {
            if (row >= table.size()) return;
            const int64_t startNs = table.startNs[row];
            if (!first || startNs < firstNs) {
                if (first) untilNs = std::min(untilNs, firstNs);
                first = kind;
                firstNs = startNs;
            } else {
                untilNs = std::min(untilNs, startNs);
            }
        };
        forEachKind([&](auto each) {
            if constexpr (each.isGpuWork) consider(each.table(trace_), next_[index(each)], each.kind);
        });
        return first;
    }

    void take(auto kind, int64_t untilNs) {
        const auto& table = kind.table(trace_);
        uint32_t& row = next_[index(kind)];
        do {
            add(kind, row);
            ++row;
        } while (row < table.size() && table.startNs[row] <= untilNs && !isStopped(stop_, row));
    }

    void add(kinds::Kernel kind, uint32_t row) {
        const uint32_t config = trace_.kernels.config[row];
        std::optional<LaneBuilder::Head> head;
        if (kernelCategory_[config] == SliceCategory::NcclKernel && !waits_.isEmpty()) head = waitingOf(row);
        add(kind, row, kernelName_[config], kernelCategory_[config], head);
    }
    std::optional<LaneBuilder::Head> waitingOf(uint32_t row) const {
        const int64_t startNs = trace_.kernels.startNs[row];
        const uint32_t process = trace_.streams[trace_.kernels.stream[row]].process;
        const int64_t waitedNs = waits_.ofKernel(process, startNs);
        if (waitedNs == 0) return std::nullopt;
        const int64_t untilNs = std::min(startNs + waitedNs, trace_.kernels.endNs[row]);
        return LaneBuilder::Head{untilNs, names_.ofWaiting(), SliceCategory::NcclWait};
    }
    void add(kinds::Memcpy kind, uint32_t row) {
        const MemcpyKind direction = trace_.memcpys.kind[row];
        add(kind, row, names_.ofMemcpy(trace_.memcpys.bytes[row], direction), memcpyCategory(direction));
    }
    void add(kinds::Memset kind, uint32_t row) {
        add(kind, row, names_.ofMemset(trace_.memsets.bytes[row]), kind.categoryOf(trace_, row));
    }
    void add(kinds::Graph kind, uint32_t row) {
        add(kind, row, names_.ofGraph(trace_.graphs.graph[row]), kind.categoryOf(trace_, row));
    }
    void add(auto kind, uint32_t row, StringIndex name, SliceCategory category,
             const std::optional<LaneBuilder::Head>& head = {}) {
        const auto& table = kind.table(trace_);
        builders_[table.stream[row]].add(table.startNs[row], table.endNs[row], name, EventRef(kind.kind, row), category,
                                         head);
    }
    static constexpr size_t index(auto kind) { return static_cast<size_t>(kind.kind); }

    const Trace& trace_;
    const WorkNames& names_;
    const std::stop_token& stop_;
    CollectiveWaits waits_;
    std::vector<StringIndex> kernelName_;  ///< By launch configuration, like the following members.
    std::vector<SliceCategory> kernelCategory_;
    std::vector<LaneBuilder> builders_;
    std::array<uint32_t, EventRef::kindLimit> next_{};  ///< Next row of each table, by kind.
};

/// Returns, for each row of the NVTX table, whether it is an NCCL call.
std::vector<bool> ncclRows(const Trace& trace) {
    std::vector<bool> isNccl(trace.nvtx.size());
    for (const uint32_t row : trace.nccl.nvtx) isNccl[row] = true;
    return isNccl;
}

struct Cursor {
    const Lane* lane;
    uint32_t slice;
    int64_t startNs;
    bool operator>(const Cursor& other) const { return startNs > other.startNs; }
};

}  // namespace

WorkNames::WorkNames(Trace& trace, const std::stop_token& stop) {
    if (trace.nccl.size() > 0) waiting_ = trace.strings.intern("waiting for ranks");
    const auto name = [&trace](auto& names, auto key, EventRef event) {
        const auto [found, isNew] = names.try_emplace(key, 0);
        if (isNew) found->second = trace.strings.intern(trace.nameOf(event));
    };
    for (uint32_t row = 0; row < trace.memcpys.size() && !isStopped(stop, row); ++row)
        name(copies_, keyOf(trace.memcpys.bytes[row], trace.memcpys.kind[row], false), {EventKind::Memcpy, row});
    for (uint32_t row = 0; row < trace.memsets.size() && !isStopped(stop, row); ++row)
        name(copies_, keyOf(trace.memsets.bytes[row], MemcpyKind::Unknown, true), {EventKind::Memset, row});
    for (uint32_t row = 0; row < trace.graphs.size() && !isStopped(stop, row); ++row)
        name(graphs_, trace.graphs.graph[row], {EventKind::Graph, row});
}

StringIndex WorkNames::ofMemcpy(int64_t bytes, MemcpyKind kind) const {
    return textOf(copies_, keyOf(bytes, kind, false));
}

StringIndex WorkNames::ofMemset(int64_t bytes) const {
    return textOf(copies_, keyOf(bytes, MemcpyKind::Unknown, true));
}

StringIndex WorkNames::ofGraph(int64_t graph) const { return textOf(graphs_, graph); }

GpuLanes collectGpuLanes(const Trace& trace, const WorkNames& names, StringIndex busy, const std::stop_token& stop) {
    std::vector<LaneBuilder> work = GpuWorkCollector(trace, names, stop).collect();
    GpuLanes lanes;
    std::vector<std::vector<const Lane*>> ofGpu(trace.gpus.size());
    lanes.ofStream.resize(work.size());
    for (size_t stream = 0; stream < work.size(); ++stream) {
        lanes.ofStream[stream] = work[stream].build();
        lanes.droppedOfStream.push_back(work[stream].droppedCount());
        for (const Lane& lane : lanes.ofStream[stream]) ofGpu[trace.streams[stream].gpu].push_back(&lane);
    }
    for (const std::vector<const Lane*>& all : ofGpu)
        lanes.busyOfGpu.push_back(unionOf(all, busy, SliceCategory::Busy, stop));
    return lanes;
}

std::vector<std::vector<Lane>> collectProjections(const Trace& trace, const std::stop_token& stop) {
    std::vector<std::vector<Lane>> lanes(trace.streams.size());
    const std::vector<bool> isNccl = ncclRows(trace);
    const ProjectionTable& table = trace.projections;
    for (uint32_t row = 0; row < table.size() && !isStopped(stop, row); ++row) {
        if (table.depth[row] >= LanePacker::maxLanes) continue;
        std::vector<Lane>& ofStream = lanes[table.stream[row]];
        while (table.depth[row] >= ofStream.size()) ofStream.emplace_back(trace.memory.get());
        const uint32_t nvtx = table.nvtx[row];
        appendSlice(ofStream[table.depth[row]], table.startNs[row], table.endNs[row], trace.nvtx.text[nvtx],
                    EventRef(EventKind::Projection, row),
                    isNccl[nvtx] ? SliceCategory::NcclCall : SliceCategory::Projection);
    }
    return lanes;
}

uint32_t LanePacker::place(int64_t startNs, int64_t endNs) {
    const uint32_t count = laneCount();
    uint32_t first = 0;
    if (packing_ == Packing::Nested) {
        for (uint32_t lane = count; lane > 0; --lane) {
            const int64_t laneEndNs = laneEndNs_[lane - 1];
            if (laneEndNs > startNs && laneEndNs >= endNs) {
                first = lane;
                break;
            }
        }
    }
    for (uint32_t lane = first; lane < count; ++lane) {
        if (laneEndNs_[lane] > startNs) continue;
        laneEndNs_[lane] = endNs;
        return lane;
    }
    if (count == maxLanes) return noLane;
    laneEndNs_.push_back(endNs);
    return count;
}

void appendSlice(Lane& lane, int64_t startNs, int64_t endNs, StringIndex name, EventRef event, SliceCategory category) {
    if (lane.busyNs.empty()) lane.busyNs.push_back(0);
    lane.startNs.push_back(startNs);
    lane.durationNs.push_back(endNs - startNs);
    lane.name.push_back(name);
    lane.event.push_back(event);
    lane.category.push_back(category);
    const uint32_t count = lane.size();
    if (count % Lane::busyStep != 0) return;
    int64_t busyNs = lane.busyNs.back();
    for (uint32_t i = count - Lane::busyStep; i < count; ++i) busyNs += lane.durationNs[i];
    lane.busyNs.push_back(busyNs);
}

bool LaneBuilder::isBefore(const Slice& a, const Slice& b) const {
    if (a.startNs != b.startNs) return a.startNs < b.startNs;
    if (packing_ == Packing::Compact) {
        // A slice of length 0 fits into the lane of a slice that starts with it, if it comes first.
        const bool aIsPoint = a.endNs == a.startNs;
        const bool bIsPoint = b.endNs == b.startNs;
        if (aIsPoint != bIsPoint) return aIsPoint;
    }
    return a.endNs > b.endNs;
}

void LaneBuilder::add(int64_t startNs, int64_t endNs, StringIndex name, EventRef event, SliceCategory category,
                      const std::optional<Head>& head) {
    isEmpty_ = false;
    if (isInOrder_ && !waiting_.empty() && startNs != waiting_.front().startNs) {
        if (startNs > waiting_.front().startNs)
            placeWaiting();
        else
            takeBack();
    }
    waiting_.push_back({startNs, std::max(startNs, endNs), name, event, category, head});
}

void LaneBuilder::placeWaiting() {
    if (waiting_.size() > 1) sortLarge(waiting_, [this](const Slice& a, const Slice& b) { return isBefore(a, b); });
    for (const Slice& slice : waiting_) place(slice);
    waiting_.clear();
}

void LaneBuilder::place(const Slice& slice) {
    const uint32_t lane = packer_.place(slice.startNs, slice.endNs);
    if (lane == LanePacker::noLane) {
        ++droppedCount_;
        return;
    }
    while (lane >= lanes_.size()) lanes_.emplace_back(memory());
    int64_t fromNs = slice.startNs;
    if (slice.head && slice.head->untilNs > fromNs && slice.head->untilNs <= slice.endNs) {
        const Head& head = *slice.head;
        appendSlice(lanes_[lane], fromNs, head.untilNs, head.name, slice.event, head.category);
        fromNs = head.untilNs;
        if (fromNs == slice.endNs) return;
    }
    appendSlice(lanes_[lane], fromNs, slice.endNs, slice.name, slice.event, slice.category);
}

/// Moves the placed slices back to the waiting ones, to be sorted with later slices.
void LaneBuilder::takeBack() {
    isInOrder_ = false;
    LargeVector<Slice> all(memory());
    for (const Lane& lane : lanes_)
        for (uint32_t i = 0; i < lane.size(); ++i)
            all.push_back(
                {lane.startNs[i], lane.endNs(i), lane.name[i], lane.event[i], lane.category[i], std::nullopt});
    all.insert(all.end(), waiting_.begin(), waiting_.end());
    waiting_ = std::move(all);
    lanes_.clear();
    packer_ = LanePacker(packing_);
}

std::vector<Lane> LaneBuilder::build() {
    placeWaiting();
    std::vector<Lane> lanes = std::move(lanes_);
    lanes_.clear();
    packer_ = LanePacker(packing_);
    isInOrder_ = isEmpty_ = true;
    return lanes;
}

Lane unionOf(std::span<const Lane* const> lanes, StringIndex name, SliceCategory category,
             const std::stop_token& stop) {
    std::priority_queue<Cursor, std::vector<Cursor>, std::greater<>> next;
    for (const Lane* lane : lanes)
        if (lane->size() > 0) next.push({lane, 0, lane->startNs[0]});
    Lane all(lanes.empty() ? nullptr : lanes.front()->startNs.memory());
    TimeRange open;
    bool isOpen = false;
    for (size_t step = 0; !next.empty() && !isStopped(stop, step); ++step) {
        Cursor cursor = next.top();
        next.pop();
        const int64_t endNs = cursor.lane->endNs(cursor.slice);
        if (cursor.lane->category[cursor.slice] == SliceCategory::NcclWait) {
            // A gap without work.
        } else if (isOpen && cursor.startNs <= open.endNs) {
            open.endNs = std::max(open.endNs, endNs);
        } else {
            if (isOpen) appendSlice(all, open.startNs, open.endNs, name, EventRef(), category);
            open = {cursor.startNs, endNs};
            isOpen = true;
        }
        if (++cursor.slice == cursor.lane->size()) continue;
        cursor.startNs = cursor.lane->startNs[cursor.slice];
        next.push(cursor);
    }
    if (isOpen) appendSlice(all, open.startNs, open.endNs, name, EventRef(), category);
    return all;
}

}  // namespace lanescope
