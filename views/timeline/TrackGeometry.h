#pragma once

#include <unordered_map>

#include "model/reduce/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope {

/// The rectangles of each lane for one visible range and width. Only lanes that are asked for are
/// reduced; scrolling, folding, hovering and selecting find them again.
class TrackGeometry {
  public:
    void setTrace(TracePtr trace);
    /// Forgets everything if either differs from before. `pixelWidth` is in device pixels.
    void setView(TimeRange range, int pixelWidth);
    /// Left to right, in device pixels. Valid until the view or the trace changes.
    const std::vector<PixelSlice>& rectangles(LanePosition lane);
    /// What a counter was in each device pixel. Valid as long.
    const std::vector<CounterColumn>& columns(uint32_t counter);
    /// The rectangle of a lane at device pixel `x`, or null.
    const PixelSlice* rectangleAt(LanePosition lane, float x);
    size_t cachedLaneCount() const { return rectangles_.size(); }

  private:
    TracePtr trace_;
    TimeRange range_;
    int pixelWidth_ = 0;
    std::unordered_map<uint64_t, std::vector<PixelSlice>> rectangles_;  // by track and lane
    std::unordered_map<uint32_t, std::vector<CounterColumn>> columns_;  // by counter
};

}  // namespace lanescope
