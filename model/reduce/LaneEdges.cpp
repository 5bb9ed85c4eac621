#include "model/reduce/LaneEdges.h"

#include <algorithm>

namespace lanescope {

LaneEdges::LaneEdges(const Lane& lane, int gridShift, int64_t firstNs, int64_t lastNs)
    : lane_(lane), level_(lane.tiles.levelFor(gridShift)) {
    if (level_ == nullptr) return;
    // What will be looked at is decoded at once.
    firstBucket_ = level_->edgeIndex(firstNs);
    widestNs_.resize(level_->edgeIndex(lastNs) - firstBucket_);
    level_->widestNs.copyTo(widestNs_, firstBucket_);
}

LaneEdge LaneEdges::at(int64_t timeNs) {
    if (level_ != nullptr) return level_->at(timeNs);
    const uint32_t count = lane_.size();
    uint32_t step = 1;
    uint32_t low = slice_;
    uint32_t high = slice_;
    while (high < count && lane_.startNs[high] < timeNs) {
        low = high + 1;
        high = step < count - high ? high + step : count;
        step *= 2;
    }
    const auto begin = lane_.startNs.begin();
    slice_ = static_cast<uint32_t>(std::lower_bound(begin + low, begin + high, timeNs) - begin);
    if (slice_ == 0) return {};
    const int64_t overhangNs = std::max<int64_t>(0, lane_.endNs[slice_ - 1] - timeNs);
    return {slice_, lane_.busyNs[slice_] - overhangNs, overhangNs};
}

LaneEdges::Widest LaneEdges::describe(uint32_t slice) const {
    return {slice, lane_.category[slice], lane_.name[slice]};
}

LaneEdges::Widest LaneEdges::widest(int64_t fromNs, int64_t toNs, const LaneEdge& from,
                                    const LaneEdge& to) {
    if (level_ == nullptr) return describe(widestSlice(lane_, from.slice, to.slice));
    const auto first = widestNs_.begin() +
                       static_cast<std::ptrdiff_t>(level_->edgeIndex(fromNs) - firstBucket_);
    const auto last =
        widestNs_.begin() + static_cast<std::ptrdiff_t>(level_->edgeIndex(toNs) - firstBucket_);
    const auto bucket =
        static_cast<size_t>(std::max_element(first, last) - widestNs_.begin()) + firstBucket_;
    return {level_->widest[bucket], level_->category[bucket], level_->name[bucket]};
}

}  // namespace lanescope
