// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/ZoomHistory.h"

#include <QTimerEvent>
#include <algorithm>
#include <utility>

#include "model/lod/reduceToPixels.h"
#include "model/remote/RemoteTrace.h"

namespace lanescope::views {

ZoomHistory::ZoomHistory(TimelineState& state, QObject* parent) : QObject(parent), state_(state) {
    clear();
    connect(&state_.range(), &TimelineRange::changed, this, &ZoomHistory::startToMove);
    connect(&state_.scroll(), &TrackScroll::scrolled, this, &ZoomHistory::startToMove);
    connect(&state_, &TimelineState::traceChanged, this, [this] {
        // Later, when the view shows the whole of the new trace.
        if (!isQuiet_) QMetaObject::invokeMethod(this, &ZoomHistory::clear, Qt::QueuedConnection);
    });
}

ZoomHistory::Place ZoomHistory::here() const {
    return {state_.range().axis().range(), state_.range().axis().isFitted(), state_.scroll().y()};
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
        places_[current_] = here();  // only scrolled, or the trace has become longer
        return;
    }
    places_.resize(current_ + 1);
    places_.push_back(here());
    if (places_.size() > maxPlaces) places_.erase(places_.begin());
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
        state_.range().axis().fit();
    } else {
        state_.range().axis().setRange(places_[place].range);
    }
    state_.scroll().setY(places_[place].scrollY);
    isQuiet_ = false;
    // The limits may have changed since; the actual view becomes the place.
    places_[place] = here();
    emit changed();
}

void ZoomHistory::clear() {
    timer_.stop();
    places_.assign(1, here());
    current_ = 0;
    emit changed();
}

void ZoomHistory::moveWithoutHistory(const std::function<void()>& change) {
    // The initial size of the widget is not a movement.
    const bool wasMoving = timer_.isActive() && isMoving();
    isQuiet_ = true;
    change();
    isQuiet_ = false;
    // The user's next action becomes a place of its own when it comes to rest.
    if (!wasMoving) places_[current_] = here();
    emit changed();
}

EmptyTrackHider::EmptyTrackHider(TimelineState& state, QObject* parent) : QObject(parent), state_(state) {
    const auto wait = [this] {
        if (isOn_) timer_.start(restMs, this);
    };
    connect(&state_, &TimelineState::traceChanged, this, wait);
    connect(&state_.range(), &TimelineRange::changed, this, wait);
}

void EmptyTrackHider::setOn(bool isOn) {
    if (isOn == isOn_ || (isOn && !isAllowed_)) return;
    isOn_ = isOn;
    timer_.stop();
    isOn_ ? update() : apply({});
}

void EmptyTrackHider::setAllowed(bool isAllowed) {
    isAllowed_ = isAllowed;
    if (!isAllowed) setOn(false);
}

void EmptyTrackHider::timerEvent(QTimerEvent* event) {
    if (event->timerId() != timer_.timerId()) return QObject::timerEvent(event);
    timer_.stop();
    update();
}

void EmptyTrackHider::update() {
    if (!state_.hasTracks()) return;
    if (const auto remote = remoteOf(*state_.trace())) remote->expect(state_.range().visible(), 0, {}, {});
    std::vector<bool> isEmpty = emptyTracks(*state_.trace(), state_.range().visible());
    // If nothing at all is visible, hiding tracks gains nothing.
    if (std::find(isEmpty.begin(), isEmpty.end(), false) == isEmpty.end()) isEmpty.clear();
    apply(std::move(isEmpty));
}

void EmptyTrackHider::keepRowUnderPointer(std::vector<bool>& omitted) const {
    const TrackLayout& layout = state_.tracks().layout();
    const TrackScroll& scroll = state_.scroll();
    if (!scroll.pointerY() || omitted.empty()) return;
    const LayoutRow* under = layout.rowAt(scroll.toLayoutY(*scroll.pointerY()));
    if (!under || under->isPinned) return;
    for (uint32_t each = under->track; each != noIndex; each = layout.parentOf(each)) omitted[each] = false;
    TrackLayout next = layout;
    next.setOmitted(omitted);
    if (next.rowOf(under->track)->top >= scroll.toScreenY(under->top)) return;
    for (const uint32_t track : layout.order()) {
        if (track == under->track) return;
        if (!layout.isOmitted(track)) omitted[track] = false;
    }
}

void EmptyTrackHider::apply(std::vector<bool> omitted) {
    keepRowUnderPointer(omitted);
    state_.tracks().arrangeInPlace([&](TrackLayout& layout) { layout.setOmitted(std::move(omitted)); });
}

}  // namespace lanescope::views
