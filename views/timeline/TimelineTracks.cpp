// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineTracks.h"

#include <cstdlib>
#include <utility>

#include "model/lod/reduceToPixels.h"
#include "model/trace/counterReadings.h"

namespace lanescope::views {

namespace {

constexpr size_t maxUndoSteps = 100;

/// Returns the part of an arrangement that can be undone: the row height has keys for both directions.
TrackArrangement withoutHeight(TrackArrangement arrangement) {
    arrangement.height = RowHeight::Normal;
    return arrangement;
}

}  // namespace

void TraceLanes::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    lowerCounters_ = trace_ ? counterPairs(trace_->counters).lowerOf : std::vector<uint32_t>();
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

void TrackScroll::setViewportHeight(int height) {
    if (height == viewportHeight_) return;
    viewportHeight_ = height;
    emit viewportChanged();
}

void TrackScroll::setY(int y) {
    const int next = std::clamp(y, 0, maxY());
    // Room once scrolled away does not return.
    room_ = std::max(0, next - (maxY() - room_));
    if (next == y_) return;
    y_ = next;
    emit scrolled();
}

void TrackScroll::keepY(int y) {
    room_ = std::max(0, y - (maxY() - room_));
    setY(y);
}

void TrackScroll::setPointerY(std::optional<int> y) {
    const bool hasLeft = pointerY_ && !y;
    pointerY_ = y;
    if (hasLeft) emit pointerLeft();
}

int TrackScroll::pinnedHeight() const {
    const int height = layout_.pinnedHeight();
    return 3 * height <= 2 * viewportHeight_ ? height : 0;
}

std::array<TrackScroll::Band, 2> TrackScroll::bands(int height) const {
    const int pinned = pinnedHeight();
    return {Band{layout_.rowsBetween(pinned + y_, y_ + height), y_, pinned, height},
            Band{layout_.rowsBetween(0, pinned), 0, 0, pinned}};
}

TimelineTracks::TimelineTracks(QObject* parent) : QObject(parent) {
    connect(&scroll_, &TrackScroll::viewportChanged, this, [this] {
        followWindow();
        emitChange();
    });
    connect(&scroll_, &TrackScroll::pointerLeft, this, [this] {
        if (isFitPending_) followWindow();
    });
}

void TimelineTracks::setTracks(std::span<const Track> tracks) {
    tracks_ = tracks;
    undo_.clear();
    default_ = {};
    isFitted_ = isFitPending_ = false;
    LayoutMetrics metrics = layout_.metrics();
    metrics.previews = {};
    layout_.setMetrics(metrics);
    layout_.setTracks(tracks);
    counterparts_.clear();
    filterText_.clear();
    setCurrent(noIndex);
    scroll_.reset();
}

void TimelineTracks::arrange(const std::function<void(TrackLayout&)>& change) {
    TrackArrangement before = withoutHeight(layout_.arrangement());
    layout_.beginChanges();
    change(layout_);
    layout_.endChanges();
    if (withoutHeight(layout_.arrangement()) != before) {
        if (undo_.size() == maxUndoSteps) undo_.erase(undo_.begin());
        undo_.push_back(std::move(before));
    }
    if (layout_.filter().empty()) filterText_.clear();
    emitChange();
}

const LayoutRow* TimelineTracks::fixedRow() const {
    const int top = scroll_.y() + scroll_.pinnedHeight();
    if (scroll_.pointerY())
        if (const LayoutRow* row = layout_.rowAt(scroll_.toLayoutY(*scroll_.pointerY()))) return row;
    // At the top, the first row may change.
    return scroll_.y() == 0 ? nullptr : layout_.rowAt(top);
}

std::vector<TimelineTracks::RowPlace> TimelineTracks::fixedPlaces() const {
    std::vector<RowPlace> places;
    const LayoutRow* fixed = fixedRow();
    if (!fixed || fixed->isPinned) return places;
    const int fixedY = scroll_.toScreenY(fixed->top);
    std::vector<const LayoutRow*> rows{fixed};
    for (const LayoutRow& row :
         layout_.rowsBetween(scroll_.y() + scroll_.pinnedHeight(), scroll_.y() + scroll_.viewportHeight()))
        rows.push_back(&row);
    // If the row itself vanishes, its nearest neighbour stays.
    std::ranges::stable_sort(rows, {},
                             [&](const LayoutRow* row) { return std::abs(scroll_.toScreenY(row->top) - fixedY); });
    const std::vector<std::string> paths = trackPaths(tracks_);
    for (const LayoutRow* row : rows) places.push_back({paths[row->track], scroll_.toScreenY(row->top)});
    return places;
}

void TimelineTracks::keepPlaces(const std::vector<RowPlace>& places) {
    if (places.empty()) return;
    const std::vector<std::string> paths = trackPaths(tracks_);
    for (const auto& [path, screenY] : places) {
        const LayoutRow* row = layout_.rowOf(static_cast<uint32_t>(std::ranges::find(paths, path) - paths.begin()));
        if (!row || row->isPinned) continue;
        if (row->top >= screenY) scroll_.keepY(row->top - screenY);
        return;
    }
}

void TimelineTracks::arrangeInPlace(const std::function<void(TrackLayout&)>& change) {
    const std::vector<RowPlace> places = fixedPlaces();
    arrange(change);
    keepPlaces(places);
}

bool TimelineTracks::undo() {
    if (undo_.empty()) return false;
    const TrackArrangement before = std::move(undo_.back());
    undo_.pop_back();
    const std::vector<RowPlace> places = fixedPlaces();
    layout_.setArrangement(before);
    emitChange();
    keepPlaces(places);
    return true;
}

void TimelineTracks::setFolded(uint32_t track, bool isFolded) {
    arrangeInPlace([&](TrackLayout& layout) { layout.setFolded(track, isFolded); });
}

void TimelineTracks::setAllFolded(bool isFolded) {
    arrangeInPlace([&](TrackLayout& layout) { layout.setAllFolded(isFolded); });
}

void TimelineTracks::reveal(uint32_t track) {
    const std::vector<RowPlace> places = fixedPlaces();
    if (!layout_.reveal(track)) return;
    arrange([](TrackLayout&) {});
    keepPlaces(places);
}

void TimelineTracks::setFilterText(const QString& text) {
    if (text == filterText_) return;
    const bool isEmpty = text.trimmed().isEmpty() || tracks_.empty();
    std::vector<bool> matches;
    if (!isEmpty) matches = matchTracks(tracks_, text);
    filterText_ = text;
    const std::vector<std::string> paths = trackPaths(tracks_);
    std::vector<RowPlace> places = fixedPlaces();
    places.resize(std::min<size_t>(places.size(), 1));
    arrange([&](TrackLayout& layout) { layout.setFilter(std::move(matches)); });
    keepPlaces(places);
    // The row is gone, and the matches begin at the top.
    if (std::ranges::none_of(places, [&](const RowPlace& place) {
            return layout_.rowOf(static_cast<uint32_t>(std::ranges::find(paths, place.path) - paths.begin()));
        }))
        scroll_.setY(0);
}

void TimelineTracks::setArrangement(const TrackArrangement& arrangement) {
    apply(arrangement);
    undo_.clear();
}

void TimelineTracks::setDefaultArrangement(TrackArrangement arrangement) {
    default_ = std::move(arrangement);
    setArrangement(default_);
}

void TimelineTracks::apply(const TrackArrangement& arrangement) {
    arrangeInPlace([&](TrackLayout& layout) { layout.setArrangement(arrangement); });
    setRowHeight(arrangement.height);
}

bool TimelineTracks::isDefaultArrangement() const {
    return withoutHeight(layout_.arrangement()) == withoutHeight(default_);
}

TrackArrangement TimelineTracks::arrangement() const {
    TrackArrangement arrangement = layout_.arrangement();
    // An arrangement of the user keeps the height at which it was made.
    if (isFitted_ && isDefaultArrangement()) arrangement.height = RowHeight::Fitted;
    return arrangement;
}

void TimelineTracks::setTextHeight(int pixels) {
    textHeight_ = pixels;
    setMetrics(LayoutMetrics::forText(textHeight_, rowHeight(), layout_.metrics().previews));
    followWindow();
}

void TimelineTracks::setRowHeight(RowHeight height) {
    isFitted_ = height == RowHeight::Fitted;
    isFitPending_ = false;
    if (isFitted_) return setMetrics(fittingMetrics());
    setMetrics(LayoutMetrics::forText(textHeight_, height, layout_.metrics().previews));
}

void TimelineTracks::setMetrics(const LayoutMetrics& metrics) {
    arrangeInPlace([&](TrackLayout& layout) { layout.setMetrics(metrics); });
}

LayoutMetrics TimelineTracks::fittingMetrics() const {
    static constexpr std::pair<RowHeight, Previews> sizes[] = {
        {RowHeight::Tall, Previews::All},    {RowHeight::Normal, Previews::All},   {RowHeight::Normal, Previews::Gpus},
        {RowHeight::Compact, Previews::All}, {RowHeight::Compact, Previews::Gpus}, {RowHeight::Normal, Previews::None},
        {RowHeight::Compact, Previews::None}};
    TrackLayout trial = layout_;
    for (const auto& [height, previews] : sizes) {
        trial.setMetrics(LayoutMetrics::forText(textHeight_, height, previews));
        // Names are worth a little scrolling.
        const bool isLastWithNames = height == RowHeight::Compact && previews == Previews::Gpus;
        const int room = scroll_.viewportHeight() * (isLastWithNames ? 11 : 10) / 10;
        if (trial.totalHeight() - trial.metrics().bottomSpace <= room) break;
    }
    return trial.metrics();
}

void TimelineTracks::followWindow() {
    if (!isFitted_ || !isDefaultArrangement()) return;
    const LayoutMetrics metrics = fittingMetrics();
    if (const LayoutRow* fixed = scroll_.pointerY() ? fixedRow() : nullptr) {
        TrackLayout trial = layout_;
        trial.setMetrics(metrics);
        isFitPending_ = !fixed->isPinned && trial.rowOf(fixed->track)->top < scroll_.toScreenY(fixed->top);
        if (isFitPending_) return;
    }
    isFitPending_ = false;
    setMetrics(metrics);
}

void TimelineTracks::setCurrent(uint32_t track) {
    if (track == current_) return;
    current_ = track;
    emit currentChanged();
}

void TimelineTracks::setCounterparts(std::vector<uint32_t> tracks) {
    counterparts_ = std::move(tracks);
    emit changed();
}

uint32_t TimelineTracks::counterpartOf(uint32_t track) const {
    return track < counterparts_.size() ? counterparts_[track] : noIndex;
}

bool TimelineTracks::isUnmatched(uint32_t track) const {
    return !counterparts_.empty() && counterpartOf(track) == noIndex;
}

void TimelineTracks::emitChange() {
    emit changed();
    scroll_.setY(scroll_.y());
}

}  // namespace lanescope::views
