#include "views/timeline/TrackGeometry.h"

#include <algorithm>

namespace lanescope {

void TrackGeometry::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    rectangles_.clear();
    columns_.clear();
}

void TrackGeometry::setView(TimeRange range, int pixelWidth) {
    if (range == range_ && pixelWidth == pixelWidth_) return;
    range_ = range;
    pixelWidth_ = pixelWidth;
    rectangles_.clear();
    columns_.clear();
}

const std::vector<PixelSlice>& TrackGeometry::rectangles(LanePosition lane) {
    const auto [entry, isNew] = rectangles_.try_emplace(uint64_t{lane.track} << 32 | lane.lane);
    if (isNew && trace_ && pixelWidth_ > 0) {
        entry->second =
            reduceToPixels(trace_->tracks[lane.track].lanes[lane.lane], range_, pixelWidth_);
    }
    return entry->second;
}

const std::vector<CounterColumn>& TrackGeometry::columns(uint32_t counter) {
    const auto [entry, isNew] = columns_.try_emplace(counter);
    if (isNew && trace_ && pixelWidth_ > 0)
        entry->second = trace_->counters[counter].extremesAt(range_, pixelWidth_);
    return entry->second;
}

const PixelSlice* TrackGeometry::rectangleAt(LanePosition lane, float x) {
    const std::vector<PixelSlice>& all = rectangles(lane);
    const auto found = std::partition_point(
        all.begin(), all.end(), [x](const PixelSlice& each) { return each.right <= x; });
    return found != all.end() && found->left <= x ? &*found : nullptr;
}

}  // namespace lanescope
