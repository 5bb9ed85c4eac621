// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TraceLanes.h"

#include <algorithm>
#include <utility>

#include "model/lod/reduceToPixels.h"
#include "model/trace/counterReadings.h"

namespace lanescope::views {

void TraceLanes::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    lowerCounters_ = trace_ ? counterPairs(trace_->counters).lowerOf : std::vector<uint32_t>();
}

uint32_t TraceLanes::trackOf(EventRef event) const {
    return trace_ && event.isValid() ? trace_->locate(event).track : noIndex;
}

const Lane& TraceLanes::laneAt(LanePosition position) const {
    return trace_->tracks[position.track].lanes[position.lane];
}

const CounterSeries* TraceLanes::counterAt(LanePosition position) const {
    const uint32_t counter = counterIndexAt(position);
    return counter == noIndex ? nullptr : &trace_->counters[counter];
}

uint32_t TraceLanes::counterIndexAt(LanePosition position) const {
    const Track& track = trace_->tracks[position.track];
    if (track.kind == TrackKind::CounterGroup) return leadingCounter(*trace_, position.track);
    if (track.kind != TrackKind::Counter) return noIndex;
    if (position.lane == 0) return track.subject;
    return track.subject < lowerCounters_.size() ? lowerCounters_[track.subject] : noIndex;
}

uint32_t TraceLanes::sliceCount(LanePosition position) const {
    const CounterSeries* counter = counterAt(position);
    return counter ? counter->size() : laneAt(position).size();
}

TimeRange TraceLanes::sliceRange(LanePosition position, uint32_t slice) const {
    if (const CounterSeries* counter = counterAt(position)) return counter->rangeOf(slice);
    const Lane& lane = laneAt(position);
    return {lane.startNs[slice], lane.endNs(slice)};
}

EventRef TraceLanes::sliceEvent(LanePosition position, uint32_t slice) const {
    if (const uint32_t counter = counterIndexAt(position); counter != noIndex)
        return trace_->sampleEvent(counter, slice);
    return laneAt(position).event[slice];
}

std::optional<uint32_t> TraceLanes::sliceAt(LanePosition position, int64_t timeNs, int64_t toleranceNs) const {
    if (const CounterSeries* counter = counterAt(position)) return counter->sampleAt(timeNs);
    const Lane& lane = laneAt(position);
    const uint32_t slice = lanescope::sliceAt(lane, timeNs, toleranceNs);
    return slice < lane.size() ? std::optional(slice) : std::nullopt;
}

uint32_t TraceLanes::nearestSlice(LanePosition position, int64_t timeNs) const {
    if (const CounterSeries* counter = counterAt(position)) return counter->nearestSample(timeNs);
    const Lane& lane = laneAt(position);
    const auto after = std::lower_bound(lane.startNs.begin(), lane.startNs.end(), timeNs);
    auto slice = static_cast<uint32_t>(after - lane.startNs.begin());
    if (slice == lane.size()) return slice - 1;
    if (slice > 0 && timeNs - lane.endNs(slice - 1) < lane.startNs[slice] - timeNs) --slice;
    return slice;
}

StringIndex TraceLanes::nameAt(LanePosition position, uint32_t slice) const {
    if (counterAt(position)) return 0;
    const Lane& lane = laneAt(position);
    return lane.category[slice] == SliceCategory::Busy ? 0 : StringIndex{lane.name[slice]};
}

}  // namespace lanescope::views
