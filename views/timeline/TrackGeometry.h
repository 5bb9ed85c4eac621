// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QThreadPool>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>

#include "model/lod/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

/// Does small pieces of work on the calling thread and, as far as they are free, on a few others
/// that stay for the next time. A machine that is busy elsewhere costs nothing: no one waits for a
/// thread that has not begun.
class SharedWork {
  public:
    SharedWork();

    /// Calls `work` once with each number below `count`, at the same time on several threads, and
    /// returns when all calls have ended. What threw, as memory ran out in another thread, is
    /// called once more on this one; what it throws then is thrown here.
    void run(size_t count, const std::function<void(size_t)>& work);

  private:
    QThreadPool pool_;
};

/// The rectangles of each lane for one visible range and width. Only lanes that are asked for are
/// reduced; scrolling, folding, hovering and selecting find them again.
class TrackGeometry {
  public:
    void setTrace(TracePtr trace);
    /// Forgets everything if either differs from before. `pixelWidth` is in device pixels.
    void setView(TimeRange range, int pixelWidth);
    /// Reduces these lanes and counters, as far as they are not known yet, on several threads: to
    /// be asked for one by one afterwards.
    void prepare(std::span<const LanePosition> lanes, std::span<const uint32_t> counters);
    /// Left to right, in device pixels. Valid until the view or the trace changes.
    const std::vector<PixelSlice>& rectangles(LanePosition lane);
    /// What a counter was in each device pixel. Valid as long.
    const std::vector<CounterColumn>& columns(uint32_t counter);
    /// The rectangle of a lane at device pixel `x`, or null.
    const PixelSlice* rectangleAt(LanePosition lane, float x);
    size_t cachedLaneCount() const { return rectangles_.size(); }

  private:
    bool isReady() const { return trace_ && pixelWidth_ > 0; }
    std::vector<PixelSlice> reduced(LanePosition lane) const;

    TracePtr trace_;
    TimeRange range_;
    int pixelWidth_ = 0;
    std::optional<PixelGrid> grid_;  ///< None for pixels of less than a nanosecond.
    std::unordered_map<uint64_t, std::vector<PixelSlice>> rectangles_;  // by track and lane
    std::unordered_map<uint32_t, std::vector<CounterColumn>> columns_;  // by counter
    SharedWork sharedWork_;
};

}  // namespace lanescope::views
