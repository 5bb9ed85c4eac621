// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineState.h"

#include <utility>

namespace lanescope::views {

void TimelineOptions::setTheme(const Theme& theme) {
    theme_ = theme;
    emit changed();
}

void TimelineOptions::setColorMode(ColorMode mode) {
    if (mode == colorMode_) return;
    colorMode_ = mode;
    emit changed();
}

void TimelineOptions::setMark(const QColor& color) {
    mark_ = color;
    emit changed();
}

TimelineState::TimelineState(QObject* parent) : QObject(parent) {}

void TimelineState::setTrace(TracePtr trace) {
    selection_.clear();
    range_.setDefaultRange(std::nullopt);
    lanes_.setTrace(std::move(trace));
    const TracePtr& now = this->trace();
    healthPlaces_ = now ? lanescope::healthPlaces(*now) : std::vector<WarningPlace>();
    tracks_.setTracks(now ? std::span<const Track>(now->tracks) : std::span<const Track>());
    setOther(nullptr);
    emit traceChanged();
    range_.setExtent({});  // a place in the old trace means nothing in this one
    range_.setExtent(now ? now->timelineRange() : TimeRange{});
    tracks_.arrange([](TrackLayout&) {});
}

void TimelineState::setGpuParts(GpuParts parts) {
    gpuParts_ = std::move(parts);
    emit gpuPartsChanged();
}

CounterScale TimelineState::counterScale(LanePosition position) const {
    std::vector<ScaledCounter> counters;
    const auto add = [&counters](const TimelineState& state, uint32_t track) {
        const TimeRange whole = state.trace()->timelineRange();
        for (const uint32_t lane : {0u, 1u}) {
            const CounterSeries* series = state.lanes().counterAt({track, lane});
            if (series && (counters.empty() || counters.front().series->unit == series->unit))
                counters.push_back({series, state.range().visible().intersected(whole), whole});
        }
    };
    add(*this, position.track);
    const uint32_t other = tracks_.counterpartOf(position.track);
    if (other_ && other_->hasTracks() && other < other_->trace()->tracks.size()) add(*other_, other);
    return scaleOf(counters);
}

}  // namespace lanescope::views
