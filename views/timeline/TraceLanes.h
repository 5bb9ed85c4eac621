// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/trace/Trace.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

/// Reads the lanes of a trace: the slices of a lane and the values of a counter alike. Without
/// tracks, only `trace`, `hasTracks` and `trackOf` may be called.
class TraceLanes {
  public:
    void setTrace(TracePtr trace);
    const TracePtr& trace() const { return trace_; }
    bool hasTracks() const { return trace_ && !trace_->tracks.empty(); }
    /// Returns the track of an event, or `noIndex`.
    uint32_t trackOf(EventRef event) const;

    const Lane& laneAt(LanePosition position) const;
    /// Returns the counter drawn in a lane, or null. For a group, its first one.
    const CounterSeries* counterAt(LanePosition position) const;
    /// Returns its number; `noIndex` for a lane of slices. A track of two directions has two lanes.
    uint32_t counterIndexAt(LanePosition position) const;
    uint32_t sliceCount(LanePosition position) const;
    TimeRange sliceRange(LanePosition position, uint32_t slice) const;
    /// Invalid for a summary slice.
    EventRef sliceEvent(LanePosition position, uint32_t slice) const;
    /// Returns the name of a slice on its lane; 0 for counter values and summary slices.
    StringIndex nameAt(LanePosition position, uint32_t slice) const;
    /// Returns the slice at `timeNs`, at most `toleranceNs` away.
    std::optional<uint32_t> sliceAt(LanePosition position, int64_t timeNs, int64_t toleranceNs) const;
    /// The lane must not be empty.
    uint32_t nearestSlice(LanePosition position, int64_t timeNs) const;

  private:
    TracePtr trace_;
    std::vector<uint32_t> lowerCounters_;  ///< `CounterPairs::lowerOf`.
};

}  // namespace lanescope::views
