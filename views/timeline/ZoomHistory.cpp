// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/ZoomHistory.h"

#include <QTimerEvent>

namespace lanescope::views {

ZoomHistory::ZoomHistory(TimelineState& state, QObject* parent) : QObject(parent), state_(state) {
    clear();
    connect(&state_, &TimelineState::viewChanged, this, &ZoomHistory::startToMove);
    connect(&state_, &TimelineState::scrolled, this, &ZoomHistory::startToMove);
    connect(&state_, &TimelineState::traceChanged, this, [this] {
        // Later, when the view shows the whole of the new trace.
        if (!isQuiet_) QMetaObject::invokeMethod(this, &ZoomHistory::clear, Qt::QueuedConnection);
    });
}

ZoomHistory::Place ZoomHistory::here() const {
    return {state_.visibleRange()->range(), state_.visibleRange()->isFitted(), state_.scrollY()};
}

bool ZoomHistory::isMoving() const {
    const Place now = here();
    const Place& kept = places_[current_];
    return now.isWhole ? !kept.isWhole : now.range != kept.range;
}

void ZoomHistory::startToMove() {
    if (!isQuiet_) timer_.start(restMs, this);
}

void ZoomHistory::timerEvent(QTimerEvent* event) {
    if (event->timerId() != timer_.timerId()) return QObject::timerEvent(event);
    comeToRest();
}

void ZoomHistory::comeToRest() {
    timer_.stop();
    if (!isMoving()) {
        places_[current_] = here();  // only scrolled, or the whole has become longer
        return;
    }
    places_.resize(current_ + 1);
    places_.push_back(here());
    if (places_.size() > mostPlaces) places_.erase(places_.begin());
    current_ = places_.size() - 1;
    emit changed();
}

void ZoomHistory::back() {
    comeToRest();
    if (current_ > 0) goTo(current_ - 1);
}

void ZoomHistory::forward() {
    comeToRest();
    if (current_ + 1 < places_.size()) goTo(current_ + 1);
}

void ZoomHistory::goTo(size_t place) {
    current_ = place;
    isQuiet_ = true;
    if (places_[place].isWhole) {
        state_.visibleRange()->fit();
    } else {
        state_.visibleRange()->setRange(places_[place].range);
    }
    state_.setScrollY(places_[place].scrollY);
    isQuiet_ = false;
    // The limits may have changed since; where the view came to is the place from now on.
    places_[place] = here();
    emit changed();
}

void ZoomHistory::clear() {
    timer_.stop();
    places_.assign(1, here());
    current_ = 0;
    emit changed();
}

void ZoomHistory::moveAlong(const std::function<void()>& change) {
    // That the widget got its size is no movement.
    const bool wasMoving = timer_.isActive() && isMoving();
    isQuiet_ = true;
    change();
    isQuiet_ = false;
    // What the user is about to do becomes a place of its own when it comes to rest.
    if (!wasMoving) places_[current_] = here();
    emit changed();
}

}  // namespace lanescope::views
