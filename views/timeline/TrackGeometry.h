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

/// Runs small pieces of work on the calling thread and on a few free helper threads, which are kept for the next time.
/// A busy machine costs nothing: the caller never waits for a helper that has not begun.
class SharedWork {
  public:
    SharedWork();

    /// Calls `work` once with each number below `count`, in parallel on several threads, and
    /// returns when all calls have ended. A call that threw (out of memory in another thread) is
    /// repeated on this thread; its exception is then passed on.
    void run(size_t count, const std::function<void(size_t)>& work);

  private:
    QThreadPool pool_;
};

/// The rectangles of each lane for one visible range and width. Only requested lanes are reduced,
/// and the result is cached for scrolling, folding, hovering and selecting.
class TrackGeometry {
  public:
    void setTrace(TracePtr trace);
    /// Clears the cache if either differs from before. `pixelWidth` is in device pixels.
    void setView(TimeRange range, int pixelWidth);
    /// Reduces these lanes and counters, unless cached, on several threads: to be fetched one by one afterwards.
    void prepare(std::span<const LanePosition> lanes, std::span<const uint32_t> counters);
    /// Left to right, in device pixels. Valid until the view or the trace changes.
    const std::vector<PixelSlice>& rectangles(LanePosition lane);
    /// Returns the values of a counter per device pixel. Valid as long as `rectangles`.
    const std::vector<CounterColumn>& columns(uint32_t counter);
    /// Returns the rectangle of a lane at device pixel `x`, or null.
    const PixelSlice* rectangleAt(LanePosition lane, float x);
    size_t cachedLaneCount() const { return rectangles_.size(); }

  private:
    bool isReady() const { return trace_ && pixelWidth_ > 0; }
    std::vector<PixelSlice> reduced(LanePosition lane) const;

    TracePtr trace_;
    TimeRange range_;
    int pixelWidth_ = 0;
    std::optional<PixelGrid> grid_;                                     ///< Unset for pixels below a nanosecond.
    std::unordered_map<uint64_t, std::vector<PixelSlice>> rectangles_;  // by track and lane
    std::unordered_map<uint32_t, std::vector<CounterColumn>> columns_;  // by counter
    SharedWork sharedWork_;
};

}  // namespace lanescope::views
