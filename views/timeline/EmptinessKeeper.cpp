// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/EmptinessKeeper.h"

#include <QTimerEvent>
#include <algorithm>

#include "model/reduce/emptyTracks.h"

namespace lanescope::views {

EmptinessKeeper::EmptinessKeeper(TimelineState& state, QObject* parent)
    : QObject(parent), state_(state) {
    for (const auto change : {&TimelineState::viewChanged, &TimelineState::traceChanged})
        connect(&state_, change, this, [this] {
            if (isOn_) timer_.start(restMs, this);
        });
}

void EmptinessKeeper::setOn(bool isOn) {
    if (isOn == isOn_) return;
    isOn_ = isOn;
    timer_.stop();
    isOn_ ? look() : keep({});
}

void EmptinessKeeper::timerEvent(QTimerEvent* event) {
    if (event->timerId() != timer_.timerId()) return QObject::timerEvent(event);
    timer_.stop();
    look();
}

void EmptinessKeeper::look() {
    if (!state_.hasTracks()) return;
    std::vector<bool> isEmpty = emptyTracks(*state_.trace(), state_.visible());
    // With nothing at all in view there is nothing to make room for.
    if (std::find(isEmpty.begin(), isEmpty.end(), false) == isEmpty.end()) isEmpty.clear();
    keep(isEmpty);
}

void EmptinessKeeper::keep(const std::vector<bool>& leftOut) {
    // The first row that is seen and stays is to stay where it is.
    uint32_t anchor = noIndex;
    int before = 0;
    for (const LayoutRow& row :
         state_.layout().rowsBetween(state_.scrollY() + state_.pinnedHeight(),
                                     state_.scrollY() + state_.viewportHeight())) {
        if (row.isPinned || (row.track < leftOut.size() && leftOut[row.track])) continue;
        anchor = row.track;
        before = row.top;
        break;
    }
    const int scrolled = state_.scrollY();
    state_.arrange([&](TrackLayout& layout) { layout.setLeftOut(leftOut); });
    const LayoutRow* row = state_.layout().rowOf(anchor);
    // At the top one looks at whatever comes first.
    if (row && scrolled > 0) state_.setScrollY(scrolled + row->top - before);
}

}  // namespace lanescope::views
