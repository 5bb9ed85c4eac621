// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineState.h"

#include <algorithm>

#include "model/lod/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "model/trace/counterReadings.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {
namespace {

/// The max number of undo steps of the arrangement.
constexpr size_t maxUndoSteps = 100;

/// Returns the part of an arrangement that can be undone: the row height has keys for both
/// directions.
TrackArrangement withoutHeight(TrackArrangement arrangement) {
    arrangement.height = RowHeight::Normal;
    return arrangement;
}

}  // namespace

TimelineState::TimelineState(QObject* parent) : QObject(parent) {
    setVisibleRange(nullptr);
}

TimelineState::~TimelineState() {
    // The range receives the withdrawal when this object can no longer receive its signals.
    disconnect(visibleRange(), nullptr, this, nullptr);
}

void TimelineState::setTrace(TracePtr trace) {
    setSelectedEvent({});
    setSelectedRange(std::nullopt);
    setHoverTime(std::nullopt);
    setHits(nullptr);
    setGapMark(std::nullopt);
    setHoveredName(0);
    trace_ = std::move(trace);
    healthPlaces_ = trace_ ? lanescope::healthPlaces(*trace_) : std::vector<HealthPlace>();
    lowerCounters_ = trace_ ? counterPairs(trace_->counters).lowerOf : std::vector<uint32_t>();
    undo_.clear();
    layout_.setTracks(trace_ ? std::span<const Track>(trace_->tracks) : std::span<const Track>());
    counterparts_.clear();
    setOther(nullptr);
    filterText_.clear();
    setCurrentTrack(noIndex);
    scrollY_ = 0;
    emit traceChanged();
    visibleRange()->setExtent(this, {});  // a place in the old trace means nothing in this one
    publishExtent();
    afterLayout();
}

const Lane& TimelineState::laneAt(LanePosition position) const {
    return trace_->tracks[position.track].lanes[position.lane];
}

const CounterSeries* TimelineState::counterAt(LanePosition position) const {
    const uint32_t counter = counterIndexAt(position);
    return counter == noIndex ? nullptr : &trace_->counters[counter];
}

uint32_t TimelineState::counterIndexAt(LanePosition position) const {
    const Track& track = trace_->tracks[position.track];
    if (track.kind == TrackKind::CounterGroup) return leadingCounter(*trace_, position.track);
    if (track.kind != TrackKind::Counter) return noIndex;
    if (position.lane == 0) return track.subject;
    return track.subject < lowerCounters_.size() ? lowerCounters_[track.subject] : noIndex;
}

uint32_t TimelineState::sliceCount(LanePosition position) const {
    const CounterSeries* counter = counterAt(position);
    return counter ? counter->size() : laneAt(position).size();
}

TimeRange TimelineState::sliceRange(LanePosition position, uint32_t slice) const {
    if (const CounterSeries* counter = counterAt(position)) return counter->rangeOf(slice);
    const Lane& lane = laneAt(position);
    return {lane.startNs[slice], lane.endNs(slice)};
}

EventRef TimelineState::sliceEvent(LanePosition position, uint32_t slice) const {
    if (const uint32_t counter = counterIndexAt(position); counter != noIndex)
        return trace_->sampleEvent(counter, slice);
    return laneAt(position).event[slice];
}

std::optional<uint32_t> TimelineState::sliceAt(LanePosition position, int64_t timeNs,
                                               int64_t toleranceNs) const {
    if (const CounterSeries* counter = counterAt(position)) return counter->sampleAt(timeNs);
    const Lane& lane = laneAt(position);
    const uint32_t slice = lanescope::sliceAt(lane, timeNs, toleranceNs);
    return slice < lane.size() ? std::optional(slice) : std::nullopt;
}

uint32_t TimelineState::nearestSlice(LanePosition position, int64_t timeNs) const {
    if (const CounterSeries* counter = counterAt(position)) return counter->nearestSample(timeNs);
    const Lane& lane = laneAt(position);
    const auto after = std::lower_bound(lane.startNs.begin(), lane.startNs.end(), timeNs);
    auto slice = static_cast<uint32_t>(after - lane.startNs.begin());
    if (slice == lane.size()) return slice - 1;
    if (slice > 0 && timeNs - lane.endNs(slice - 1) < lane.startNs[slice] - timeNs) --slice;
    return slice;
}

void TimelineState::setTheme(const Theme& theme) {
    theme_ = theme;
    emit themeChanged();
}

void TimelineState::setColorMode(ColorMode mode) {
    if (mode == colorMode_) return;
    colorMode_ = mode;
    emit themeChanged();
}

StringIndex TimelineState::nameAt(LanePosition position, uint32_t slice) const {
    if (counterAt(position)) return 0;
    const Lane& lane = laneAt(position);
    return lane.category[slice] == SliceCategory::Busy ? 0 : StringIndex{lane.name[slice]};
}

StringIndex TimelineState::highlightedName() const {
    if (!isHighlighting_) return 0;
    return hoveredName_ != 0 ? hoveredName_ : selectedName_;
}

template <class Change>
void TimelineState::changeHighlight(const Change& change) {
    const StringIndex before = highlightedName();
    change();
    if (highlightedName() != before) emit highlightChanged();
}

void TimelineState::setHoveredName(StringIndex name) {
    changeHighlight([&] { hoveredName_ = name; });
}

void TimelineState::setHighlighting(bool isOn) {
    changeHighlight([&] { isHighlighting_ = isOn; });
}

void TimelineState::setVisibleRange(VisibleRange* range) {
    VisibleRange* const before = visibleRange();
    before->setExtent(this, {});
    disconnect(before, nullptr, this, nullptr);
    sharedRange_ = range;
    VisibleRange* const now = visibleRange();
    connect(now, &VisibleRange::changed, this, &TimelineState::viewChanged);
    connect(now, &VisibleRange::limitsChanged, this, &TimelineState::viewChanged);
    if (range) {
        connect(range, &QObject::destroyed, this, [this] { setVisibleRange(nullptr); });
    }
    publishExtent();
    emit viewChanged();
}

VisibleRange* TimelineState::visibleRange() const {
    return sharedRange_ ? sharedRange_.data() : const_cast<VisibleRange*>(&ownRange_);
}

void TimelineState::setTimeOrigin(int64_t traceTimeNs) {
    if (traceTimeNs == timeOriginNs_) return;
    timeOriginNs_ = traceTimeNs;
    publishExtent();
    emit viewChanged();
}

void TimelineState::zoomAt(int64_t timeNs, double factor) {
    visibleRange()->zoomAt(timeNs - timeOriginNs_, factor);
}

void TimelineState::arrange(const std::function<void(TrackLayout&)>& change) {
    TrackArrangement before = withoutHeight(layout_.arrangement());
    layout_.beginChanges();
    change(layout_);
    layout_.endChanges();
    if (withoutHeight(layout_.arrangement()) != before) {
        if (undo_.size() == maxUndoSteps) undo_.erase(undo_.begin());
        undo_.push_back(std::move(before));
    }
    if (layout_.filter().empty()) filterText_.clear();
    afterLayout();
}

bool TimelineState::undoArrangement() {
    if (undo_.empty()) return false;
    const TrackArrangement before = std::move(undo_.back());
    undo_.pop_back();
    layout_.setArrangement(before);
    afterLayout();
    return true;
}

void TimelineState::setMetrics(const LayoutMetrics& metrics) {
    arrange([&](TrackLayout& layout) { layout.setMetrics(metrics); });
}

void TimelineState::setFolded(uint32_t track, bool isFolded) {
    arrange([&](TrackLayout& layout) { layout.setFolded(track, isFolded); });
}

void TimelineState::revealTrack(uint32_t track) {
    if (!layout_.reveal(track)) return;
    arrange([](TrackLayout&) {});
}

void TimelineState::setFilterText(const QString& text) {
    if (text == filterText_) return;
    const bool isEmpty = text.trimmed().isEmpty() || !hasTracks();
    std::vector<bool> matches;
    if (!isEmpty) matches = matchTracks(trace_->tracks, text);
    filterText_ = text;
    arrange([&](TrackLayout& layout) { layout.setFilter(std::move(matches)); });
}

void TimelineState::setCurrentTrack(uint32_t track) {
    if (track == currentTrack_) return;
    currentTrack_ = track;
    emit currentTrackChanged();
}

void TimelineState::setCounterparts(std::vector<uint32_t> tracks) {
    counterparts_ = std::move(tracks);
    emit layoutChanged();
}

CounterScale TimelineState::counterScale(LanePosition position) const {
    std::vector<ScaledCounter> counters;
    const auto add = [&counters](const TimelineState& state, uint32_t track) {
        const TimeRange whole = state.trace()->timelineRange();
        for (const uint32_t lane : {0u, 1u}) {
            const CounterSeries* series = state.counterAt({track, lane});
            if (series && (counters.empty() || counters.front().series->unit == series->unit))
                counters.push_back({series, state.visible().intersected(whole), whole});
        }
    };
    add(*this, position.track);
    const uint32_t other = counterpartOf(position.track);
    if (other_ && other_->hasTracks() && other < other_->trace()->tracks.size())
        add(*other_, other);
    return scaleOf(counters);
}

void TimelineState::setOther(const TimelineState* other) {
    other_ = other;
}

uint32_t TimelineState::counterpartOf(uint32_t track) const {
    return track < counterparts_.size() ? counterparts_[track] : noIndex;
}

bool TimelineState::isUnmatched(uint32_t track) const {
    return !counterparts_.empty() && counterpartOf(track) == noIndex;
}

void TimelineState::setMark(const QColor& color) {
    mark_ = color;
    emit themeChanged();
}

void TimelineState::setViewportHeight(int height) {
    if (height == viewportHeight_) return;
    viewportHeight_ = height;
    afterLayout();
}

int TimelineState::pinnedHeight() const {
    const int height = layout_.pinnedHeight();
    return 3 * height <= 2 * viewportHeight_ ? height : 0;
}

int TimelineState::toScreenY(int layoutY) const {
    return layoutY < pinnedHeight() ? layoutY : layoutY - scrollY_;
}

int TimelineState::toLayoutY(int screenY) const {
    return screenY < pinnedHeight() ? screenY : screenY + scrollY_;
}

std::array<TimelineState::Band, 2> TimelineState::bands(int height) const {
    const int pinned = pinnedHeight();
    return {
        Band{layout_.rowsBetween(pinned + scrollY_, scrollY_ + height), scrollY_, pinned, height},
        Band{layout_.rowsBetween(0, pinned), 0, 0, pinned}};
}

int TimelineState::maxScrollY() const {
    return std::max(0, layout_.totalHeight() - viewportHeight_);
}

void TimelineState::setScrollY(int y) {
    const int next = std::clamp(y, 0, maxScrollY());
    if (next == scrollY_) return;
    scrollY_ = next;
    emit scrolled();
}

void TimelineState::setSelectedEvent(EventRef event) {
    if (event == selectedEvent_) return;
    selectedEvent_ = event;
    const SliceLocation at = trace_ && event.isValid() ? trace_->locate(event) : SliceLocation();
    if (at.isValid()) setCurrentTrack(at.track);
    changeHighlight([&] {
        selectedName_ = at.isValid() ? nameAt({at.track, at.lane}, at.slice) : 0;
    });
    if (event.isValid()) setGapMark(std::nullopt);
    emit selectedEventChanged(event);
}

void TimelineState::setSelectedRange(std::optional<TimeRange> range) {
    if (range && range->isEmpty()) range.reset();
    if (range == selectedRange_) return;
    selectedRange_ = range;
    emit selectedRangeChanged(range);
}

void TimelineState::setGapMark(std::optional<GapMark> mark) {
    if (!mark && !gapMark_) return;
    gapMark_ = std::move(mark);
    emit gapMarkChanged();
}

void TimelineState::setGpuParts(GpuParts parts) {
    gpuParts_ = std::move(parts);
    emit viewChanged();
}

void TimelineState::setHoverTime(std::optional<int64_t> timeNs) {
    if (timeNs == hoverTimeNs_) return;
    hoverTimeNs_ = timeNs;
    emit hoverTimeChanged();
}

void TimelineState::setHits(SearchHitsPtr hits) {
    if (hits && hits->isEmpty()) hits.reset();
    if (hits == hits_) return;
    hits_ = std::move(hits);
    emit hitsChanged();
}

void TimelineState::publishExtent() {
    visibleRange()->setExtent(
        this, trace_ ? trace_->timelineRange().shifted(-timeOriginNs_) : TimeRange{});
}

void TimelineState::afterLayout() {
    emit layoutChanged();
    setScrollY(scrollY_);
}

}  // namespace lanescope::views
