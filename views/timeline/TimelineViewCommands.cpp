// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineView.h"

#include <QFontMetrics>
#include <algorithm>

#include "views/timeline/LabelColumn.h"
#include "views/timeline/PairedRows.h"
#include "views/timeline/SliceMenu.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackCanvas.h"
#include "views/timeline/TrackFilterBar.h"
#include "views/timeline/TrackMenu.h"
#include "views/timeline/ZoomHistory.h"

// Commands of the timeline: for menus, keys and the widgets around it.
namespace lanescope::views {

void TimelineView::setEmptyPlaces(EmptyPlaces places) {
    state_->setEmptyPlaces(std::move(places));
}
void TimelineView::setGpuParts(GpuParts parts) {
    state_->setGpuParts(std::move(parts));
}
void TimelineView::refreshEmptyPlaces() {
    canvas_->refreshHover();
}
void TimelineView::setGapMark(std::optional<GapMark> mark) {
    state_->setGapMark(std::move(mark));
}
bool TimelineView::hasGapMark() const {
    return state_->gapMark().has_value();
}

std::optional<TimeRange> TimelineView::selectedRange() const {
    return state_->selectedRange();
}
void TimelineView::setSelectedRange(std::optional<TimeRange> range) {
    state_->setSelectedRange(range);
}
EventRef TimelineView::selectedEvent() const {
    return state_->selectedEvent();
}
void TimelineView::setSelectedEvent(EventRef event) {
    state_->setSelectedEvent(event);
}
void TimelineView::revealEvent(EventRef event) {
    TimelineNavigator(*state_).reveal(event);
}
void TimelineView::scrollToTrack(uint32_t track) {
    state_->revealTrack(track);
    if (const LayoutRow* row = state_->layout().rowOf(track))
        state_->setScrollY(row->top - state_->pinnedHeight());
    state_->setCurrentTrack(track);
}
void TimelineView::flashTrack(uint32_t track) {
    scrollToTrack(track);
    labels_->flash(*state_, track);
}
void TimelineView::showRange(TimeRange range) {
    TimelineNavigator(*state_).zoomTo(range);
}
void TimelineView::showTime(int64_t timeNs) {
    const TimeRange visible = state_->visible();
    state_->setVisible(visible.shifted(timeNs - visible.startNs - visible.durationNs() / 2));
    state_->setHoverTime(timeNs);
}
void TimelineView::setSearchHits(SearchHitsPtr hits) {
    state_->setHits(std::move(hits));
}

void TimelineView::fit() {
    state_->visibleRange()->fit();
}
void TimelineView::zoomToSelection() {
    TimelineNavigator(active()).zoomToSelection();
}
void TimelineView::zoomToEvent() {
    TimelineNavigator(active()).zoomToEvent();
}
void TimelineView::goBack() {
    history_->back();
}
void TimelineView::goForward() {
    history_->forward();
}
bool TimelineView::canGoBack() const {
    return history_->canGoBack();
}
bool TimelineView::canGoForward() const {
    return history_->canGoForward();
}
void TimelineView::moveWithoutHistory(const std::function<void()>& change) {
    history_->moveWithoutHistory(change);
}

void TimelineView::selectNeighbour(int direction, SliceStep step) {
    TimelineNavigator(active()).selectNeighbour(direction, step, canvas_->width());
}
void TimelineView::selectEndOfLane(int direction) {
    TimelineNavigator(active()).selectEndOfLane(direction);
}
void TimelineView::selectAdjacentLane(int direction) {
    TimelineNavigator(active()).selectAdjacentLane(direction);
}
void TimelineView::selectCounterpart() {
    if (rows_) rows_->selectCounterpart();
}
void TimelineView::followFlow(int direction) {
    TimelineNavigator(active()).followFlow(direction);
}
void TimelineView::scrollPages(int direction) {
    const int page = std::max(1, state_->viewportHeight() * 7 / 8);
    state_->setScrollY(state_->scrollY() + direction * page);
}
void TimelineView::scrollToTop() {
    state_->setScrollY(0);
}
void TimelineView::scrollToBottom() {
    state_->setScrollY(state_->maxScrollY());
}

void TimelineView::showPlace(TimeRange range, uint32_t process) {
    TimelineNavigator(*state_).showPlace(range, process);
}

ColorMode TimelineView::colorMode() const {
    return state_->colorMode();
}
void TimelineView::setColorMode(ColorMode mode) {
    state_->setColorMode(mode);
    if (companion_) companion_->setColorMode(mode);
}
bool TimelineView::isHighlighting() const {
    return state_->isHighlighting();
}
void TimelineView::setHighlighting(bool isOn) {
    state_->setHighlighting(isOn);
    if (companion_) companion_->setHighlighting(isOn);
}

void TimelineView::foldAll() {
    state_->arrange([](TrackLayout& layout) { layout.setAllFolded(true); });
}
void TimelineView::unfoldAll() {
    state_->arrange([](TrackLayout& layout) { layout.setAllFolded(false); });
}

TimelineState& TimelineView::trackState() const {
    const bool isCompanions = companion_ && companion_->currentTrack() != noIndex;
    return isCompanions ? *companion_ : *state_;
}
void TimelineView::filterTracks() {
    filter_->activate();
}
void TimelineView::togglePinnedTrack() {
    togglePinned(trackState(), trackState().currentTrack());
}
void TimelineView::hideTrack() {
    lanescope::views::hideTrack(trackState(), trackState().currentTrack());
}
void TimelineView::showAllTracks() {
    lanescope::views::showAllTracks(*state_);
    if (companion_) lanescope::views::showAllTracks(*companion_);
}
void TimelineView::hideEmptyTracks() {
    lanescope::views::hideEmptyTracks(*state_, companion_);
}
void TimelineView::setHidingEmpty(bool isOn) {
    emptiness_->setOn(isOn && !companion_);
}
bool TimelineView::isAboutToArrange() const {
    return emptiness_->isWaiting();
}
bool TimelineView::isHidingEmpty() const {
    return emptiness_->isOn();
}
void TimelineView::moveTrack(int direction) {
    lanescope::views::moveTrack(trackState(), trackState().currentTrack(), direction);
}
void TimelineView::toggleFold(bool isDeep) {
    lanescope::views::toggleFold(trackState(), trackState().currentTrack(), isDeep);
}
RowHeight TimelineView::rowHeight() const {
    return state_->layout().metrics().rowHeight;
}
void TimelineView::setRowHeight(RowHeight height) {
    state_->setMetrics(LayoutMetrics::forText(QFontMetrics(font()).height(), height));
}
TrackArrangement TimelineView::arrangement() const {
    return state_->layout().arrangement();
}
void TimelineView::setArrangement(const TrackArrangement& arrangement) {
    takeArrangement(arrangement);
    state_->forgetArrangements();
}
void TimelineView::takeArrangement(const TrackArrangement& arrangement) {
    state_->arrange([&](TrackLayout& layout) { layout.setArrangement(arrangement); });
    setRowHeight(arrangement.height);
}
void TimelineView::undoArrangement() {
    // With two traces, changes of the companion's tracks also changed their counterparts.
    if (!state_->undoArrangement() && companion_) companion_->undoArrangement();
}

void TimelineView::arrangeAsAtFirst() {
    takeArrangement(firstArrangement_);
    if (companion_) companion_->arrange([](TrackLayout& layout) { layout.setArrangement({}); });
    showFirstRange();
    scrollToTop();
}
void TimelineView::setFirstArrangement(TrackArrangement arrangement) {
    firstArrangement_ = std::move(arrangement);
    setArrangement(firstArrangement_);
}
void TimelineView::setFirstRange(std::optional<TimeRange> range) {
    firstRange_ = range;
}
void TimelineView::showFirstRange() {
    firstRange_ ? showRange(*firstRange_) : fit();
}

void TimelineView::selectTimeOfEvent() {
    TimelineState& state = active();
    if (!state.trace()) return;
    std::optional<TimeRange> range;
    if (state.selectedEvent().isValid())
        range = state.trace()->rangeOf(state.selectedEvent());
    else if (state.gapMark())
        range = state.gapMark()->range;
    if (!range) return;
    // Ranges are in the first trace's time.
    range = range->shifted(state_->timeOrigin() - state.timeOrigin());
    setSelectedRange(selectedRange() == range ? std::nullopt : range);
}
void TimelineView::copySelected() {
    copySelection(active());
}
void TimelineView::setTablesOffered(bool isOn) {
    state_->setTablesOffered(isOn);
}
void TimelineView::setWheelScrolling(bool isOn) {
    state_->setWheelScrolling(isOn);
}
bool TimelineView::isWheelScrolling() const {
    return state_->isWheelScrolling();
}

void TimelineView::clearSelection() {
    state_->setSelectedEvent({});
    state_->setGapMark(std::nullopt);
    if (companion_) companion_->setSelectedEvent({});
    state_->setSelectedRange(std::nullopt);
}

}  // namespace lanescope::views
