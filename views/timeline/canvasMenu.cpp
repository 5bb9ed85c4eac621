// SPDX-License-Identifier: GPL-3.0-or-later
#include <QContextMenuEvent>

#include "views/timeline/SliceMenu.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TrackCanvas.h"

// What the canvas does with places of its own: its menu, and where a range may begin and end.
namespace lanescope::views {
namespace {

/// The menu key has no place of its own: it is about what is selected.
std::optional<TimelinePlace> selectedPlace(const TimelineState& state) {
    const EventRef event = state.selectedEvent();
    if (!event.isValid()) return std::nullopt;
    const SliceLocation at = state.trace()->locate(event);
    const TimeRange range = state.trace()->rangeOf(event);
    return TimelinePlace{at.isValid() ? at.track : noIndex, range.startNs, event, range, false};
}

}  // namespace

void TrackCanvas::contextMenuEvent(QContextMenuEvent* event) {
    if (!state_.hasTracks()) return;
    const bool isKey = event->reason() == QContextMenuEvent::Keyboard;
    TimelineState* state = &state_;
    std::optional<TimelinePlace> place = isKey ? selectedPlace(state_) : std::nullopt;
    const auto slice = isKey ? std::nullopt : sliceUnder(event->pos());
    if (slice) {
        state = slice->state;
        place = TimelinePlace{slice->lane.track, scale().toTimeNs(event->pos().x() + 0.5),
                              state->sliceEvent(slice->lane, slice->index),
                              state->sliceRange(slice->lane, slice->index), false};
        // Where it stands is seen while the menu covers other things.
        if (place->event.isValid()) state->setSelectedEvent(place->event);
    } else if (const LayoutRow* row = state_.layout().rowAt(state_.toLayoutY(event->pos().y()));
               row && !place) {
        place = TimelinePlace{row->track, scale().toTimeNs(event->pos().x() + 0.5), {}, {}, false};
        if (const auto empty = state_.emptyPlaces()
                                   ? state_.emptyPlaces()(row->track, place->timeNs)
                                   : std::nullopt) {
            place->range = empty->range;
            place->isIdle = true;
        }
    }
    if (!place) return;
    auto* menu = new SliceMenu(*state, *place, this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->popup(isKey ? mapToGlobal(rect().center()) : event->globalPos());
}

int64_t TrackCanvas::timeFor(QPoint position, Qt::KeyboardModifiers modifiers) const {
    const int64_t timeNs = scale().toTimeNs(position.x());
    if (modifiers & Qt::AltModifier) return timeNs;
    return snapped(state_, timeNs, scale().spanNs(edgeTolerance),
                   state_.layout().laneAt(state_.toLayoutY(position.y())));
}

bool TrackCanvas::isOnEdge(QPoint position) const {
    return isAtEdge(state_, scale().toTimeNs(position.x()), scale().spanNs(edgeTolerance));
}

}  // namespace lanescope::views
