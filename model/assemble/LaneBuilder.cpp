// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/LaneBuilder.h"

#include <algorithm>
#include <queue>

#include "model/numbers/LargeMemory.h"
#include "model/trace/tasks.h"

namespace lanescope {

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

namespace {

struct Cursor {
    const Lane* lane;
    uint32_t slice;
    int64_t startNs;
    bool operator>(const Cursor& other) const { return startNs > other.startNs; }
};

}  // namespace

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
