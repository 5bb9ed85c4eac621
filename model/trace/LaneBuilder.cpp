#include "model/trace/LaneBuilder.h"

#include <algorithm>

namespace lanescope {

void appendSlice(Lane& lane, int64_t startNs, int64_t endNs, StringIndex name, EventRef event,
                 SliceCategory category) {
    if (lane.busyNs.empty()) lane.busyNs.push_back(0);
    lane.startNs.push_back(startNs);
    lane.endNs.push_back(endNs);
    lane.name.push_back(name);
    lane.event.push_back(event);
    lane.category.push_back(category);
    lane.busyNs.push_back(lane.busyNs.back() + (endNs - startNs));
}

void LaneBuilder::add(int64_t startNs, int64_t endNs, StringIndex name, EventRef event,
                      SliceCategory category) {
    slices_.push_back({startNs, std::max(startNs, endNs), name, event, category});
}

void LaneBuilder::sort() {
    const auto nested = [](const Slice& a, const Slice& b) {
        if (a.startNs != b.startNs) return a.startNs < b.startNs;
        return a.endNs > b.endNs;
    };
    // A slice of no length fits into the lane of one that starts with it, if it comes first.
    const auto compact = [](const Slice& a, const Slice& b) {
        if (a.startNs != b.startNs) return a.startNs < b.startNs;
        const bool aIsPoint = a.endNs == a.startNs;
        const bool bIsPoint = b.endNs == b.startNs;
        if (aIsPoint != bIsPoint) return aIsPoint;
        return a.endNs > b.endNs;
    };
    const auto sortBy = [this](const auto& less) {
        if (!std::is_sorted(slices_.begin(), slices_.end(), less))
            std::stable_sort(slices_.begin(), slices_.end(), less);
    };
    packing_ == Packing::Nested ? sortBy(nested) : sortBy(compact);
}

std::vector<Lane> LaneBuilder::build() {
    sort();
    std::vector<Lane> lanes;
    LanePacker packer(packing_);
    for (const Slice& slice : slices_) {
        const uint32_t lane = packer.place(slice.startNs, slice.endNs);
        if (lane == LanePacker::noLane) {
            ++droppedCount_;
            continue;
        }
        if (lane >= lanes.size()) lanes.resize(lane + 1);
        appendSlice(lanes[lane], slice.startNs, slice.endNs, slice.name, slice.event,
                    slice.category);
    }
    slices_.clear();
    return lanes;
}

Lane LaneBuilder::buildUnion(StringIndex name, SliceCategory category) {
    sort();
    Lane lane;
    for (size_t first = 0; first < slices_.size();) {
        const int64_t startNs = slices_[first].startNs;
        int64_t endNs = slices_[first].endNs;
        size_t next = first + 1;
        for (; next < slices_.size() && slices_[next].startNs <= endNs; ++next)
            endNs = std::max(endNs, slices_[next].endNs);
        appendSlice(lane, startNs, endNs, name, EventRef(), category);
        first = next;
    }
    slices_.clear();
    return lane;
}

}  // namespace lanescope
