// SPDX-License-Identifier: Apache-2.0
#include "model/reduce/LaneEdges.h"

#include <algorithm>

#include "model/reduce/wrappingSum.h"

namespace lanescope {

namespace {

/// No more slices than this are decoded for a picture; beyond, single ones are looked up.
constexpr std::ptrdiff_t mostDecoded = 1 << 16;
/// Up to so many slices, summing their durations is quicker than asking the lane.
constexpr uint32_t mostSummed = 64;

}  // namespace

LaneEdges::LaneEdges(const Lane& lane, int gridShift, int64_t firstNs, int64_t lastNs)
    : lane_(lane), level_(lane.tiles->levelFor(gridShift)) {
    // What will be looked at is decoded at once.
    if (level_ == nullptr) {
        decodeSlices(firstNs, lastNs);
        return;
    }
    firstBucket_ = level_->edgeIndex(firstNs);
    widestNs_.resize(level_->edgeIndex(lastNs) - firstBucket_);
    level_->widestNs.copyTo(widestNs_, firstBucket_);
}

void LaneEdges::decodeSlices(int64_t firstNs, int64_t lastNs) {
    const auto begin = lane_.startNs.begin();
    const auto end = lane_.startNs.end();
    const auto first = std::lower_bound(begin, end, firstNs);
    const auto last = std::lower_bound(first, end, lastNs);
    slice_ = static_cast<uint32_t>(first - begin);
    busyNs_ = lane_.busyBefore(slice_);
    firstDecoded_ = slice_ - (slice_ > 0 ? 1 : 0);  // the one before may hang over
    const std::ptrdiff_t count = last - begin - std::ptrdiff_t{firstDecoded_};
    if (count > mostDecoded) return;
    startNs_.resize(static_cast<size_t>(count));
    durationNs_.resize(static_cast<size_t>(count));
    lane_.startNs.copyTo(startNs_, firstDecoded_);
    lane_.durationNs.copyTo(durationNs_, firstDecoded_);
}

void LaneEdges::moveTo(uint32_t slice) {
    if (slice - slice_ > mostSummed)
        busyNs_ = lane_.busyBefore(slice);
    else
        for (uint32_t i = slice_; i < slice; ++i) busyNs_ = wrappingSum(busyNs_, durationNs(i));
    slice_ = slice;
}

LaneEdge LaneEdges::at(int64_t timeNs) {
    if (level_ != nullptr) return level_->at(timeNs);
    const uint32_t count = lane_.size();
    uint32_t step = 1;
    uint32_t low = slice_;
    uint32_t high = slice_;
    while (high < count && startNs(high) < timeNs) {
        low = high + 1;
        high = step < count - high ? high + step : count;
        step *= 2;
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        startNs(middle) < timeNs ? low = middle + 1 : high = middle;
    }
    moveTo(low);
    if (slice_ == 0) return {};
    const uint32_t last = slice_ - 1;
    const int64_t overhangNs = std::max<int64_t>(0, startNs(last) + durationNs(last) - timeNs);
    return {slice_, wrappingDifference(busyNs_, overhangNs), overhangNs};
}

LaneEdges::Widest LaneEdges::describe(uint32_t slice) const {
    return {lane_.category[slice], lane_.name[slice]};
}

LaneEdges::Widest LaneEdges::widest(int64_t fromNs, int64_t toNs, const LaneEdge& from,
                                    const LaneEdge& to) {
    if (level_ == nullptr) {
        if (to.slice - from.slice > mostSummed || !isDecoded(from.slice) ||
            !isDecoded(to.slice - 1))
            return describe(widestSlice(lane_, from.slice, to.slice));
        const auto begin = durationNs_.begin();
        const auto longest = std::max_element(begin + (from.slice - firstDecoded_),
                                              begin + (to.slice - firstDecoded_));
        return describe(firstDecoded_ + static_cast<uint32_t>(longest - begin));
    }
    const size_t first = level_->edgeIndex(fromNs) - firstBucket_;
    const size_t end = level_->edgeIndex(toNs) - firstBucket_;
    // Which of the two to four is the widest cannot be foreseen: without branches.
    size_t widest = first;
    for (size_t i = first + 1; i < end; ++i) widest = widestNs_[i] > widestNs_[widest] ? i : widest;
    const size_t bucket = widest + firstBucket_;
    return {level_->category[bucket], level_->name[bucket]};
}

}  // namespace lanescope
