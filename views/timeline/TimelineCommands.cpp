// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineCommands.h"

#include <QWidget>
#include <algorithm>

#include "views/timeline/PairedRows.h"
#include "views/timeline/SliceMenu.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TrackMenu.h"

namespace lanescope::views {

void TimelineCommands::setCompanion(TimelineState* companion, PairedRows* rows) {
    companion_ = companion;
    rows_ = rows;
}

TimelineState& TimelineCommands::active() const { return rows_ ? rows_->active() : state_; }

TimelineState& TimelineCommands::trackState() const {
    const bool isCompanions = companion_ && companion_->tracks().current() != noIndex;
    return isCompanions ? *companion_ : state_;
}

void TimelineCommands::zoomToSelection() { TimelineNavigator(active()).zoomToSelection(); }

void TimelineCommands::zoomToEvent() { TimelineNavigator(active()).zoomToEvent(); }

void TimelineCommands::scrollPages(int direction) {
    const int page = std::max(1, state_.scroll().viewportHeight() * 7 / 8);
    state_.scroll().setY(state_.scroll().y() + direction * page);
}

void TimelineCommands::restoreDefaults() {
    state_.tracks().restoreDefault();
    if (companion_) companion_->tracks().arrange([](TrackLayout& layout) { layout.setArrangement({}); });
    state_.range().showDefaultRange();
    scrollToTop();
}

void TimelineCommands::selectNeighbour(int direction, SliceStep step) {
    TimelineNavigator(active()).selectNeighbour(direction, step, canvas_.width());
}

void TimelineCommands::selectEndOfLane(int direction) { TimelineNavigator(active()).selectEndOfLane(direction); }

void TimelineCommands::selectAdjacentLane(int direction) { TimelineNavigator(active()).selectAdjacentLane(direction); }

void TimelineCommands::selectCounterpart() {
    if (rows_) rows_->selectCounterpart();
}

void TimelineCommands::followFlow(int direction) { TimelineNavigator(active()).followFlow(direction); }

void TimelineCommands::selectTimeOfEvent() {
    const TimelineState& state = active();
    if (!state.trace()) return;
    std::optional<TimeRange> range;
    if (const EventRef event = state.selection().event(); event.isValid())
        range = state.trace()->rangeOf(event);
    else if (state.selection().gapMark())
        range = state.selection().gapMark()->range;
    if (!range) return;
    // Ranges are in the first trace's time.
    range = range->shifted(state_.range().origin() - state.range().origin());
    state_.selection().setRange(state_.selection().range() == range ? std::nullopt : range);
}

void TimelineCommands::clearSelection() {
    state_.selection().setEvent({});
    state_.selection().setGapMark(std::nullopt);
    if (companion_) companion_->selection().setEvent({});
    state_.selection().setRange(std::nullopt);
}

void TimelineCommands::copySelected() { copySelection(active()); }

void TimelineCommands::togglePinnedTrack() { togglePinned(trackState(), trackState().tracks().current()); }

void TimelineCommands::hideTrack() { views::hideTrack(trackState(), trackState().tracks().current()); }

void TimelineCommands::moveTrack(int direction) {
    views::moveTrack(trackState(), trackState().tracks().current(), direction);
}

void TimelineCommands::toggleFold(bool isDeep) {
    views::toggleFold(trackState(), trackState().tracks().current(), isDeep);
}

void TimelineCommands::showAllTracks() {
    views::showAllTracks(state_);
    if (companion_) views::showAllTracks(*companion_);
}

void TimelineCommands::hideEmptyTracks() { views::hideEmptyTracks(state_, companion_); }

void TimelineCommands::undoArrangement() {
    // With two traces, changes of the companion's tracks also changed their counterparts.
    if (!state_.tracks().undo() && companion_) companion_->tracks().undo();
}

void TimelineCommands::setColorMode(ColorMode mode) {
    state_.options().setColorMode(mode);
    if (companion_) companion_->options().setColorMode(mode);
}

void TimelineCommands::setHighlighting(bool isOn) {
    state_.selection().setHighlighting(isOn);
    if (companion_) companion_->selection().setHighlighting(isOn);
}

}  // namespace lanescope::views
