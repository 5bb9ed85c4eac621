// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelinePlaces.h"

#include <QWidget>

namespace lanescope::views {

TimelinePlaces::TimelinePlaces(const TimelineState& state, const QWidget& canvas, QObject* parent)
    : QObject(parent), state_(state), canvas_(canvas) {
    connect(&state_, &TimelineState::traceChanged, this, &TimelinePlaces::changed);
    connect(&state_.range(), &TimelineRange::changed, this, &TimelinePlaces::changed);
    connect(&state_.tracks(), &TimelineTracks::changed, this, &TimelinePlaces::changed);
    connect(&state_.scroll(), &TrackScroll::scrolled, this, &TimelinePlaces::changed);
}

QRect TimelinePlaces::tracksArea() const { return canvas_.geometry(); }

QRect TimelinePlaces::trackArea(uint32_t track) const {
    if (!state_.hasTracks() || track >= state_.trace()->tracks.size()) return {};
    const LayoutRow* row = state_.tracks().layout().visibleRowOf(track);
    if (!row) return {};
    const QRect area = tracksArea();
    const int top = area.top() + state_.scroll().toScreenY(row->top);
    return QRect(area.left(), top, area.width(), row->height).intersected(area);
}

double TimelinePlaces::xOf(int64_t timeNs) const {
    return tracksArea().left() + state_.range().scale(canvas_.width()).toX(timeNs);
}

int64_t TimelinePlaces::timeAt(double x) const {
    return state_.range().scale(canvas_.width()).toTimeNs(x - tracksArea().left());
}

uint32_t TimelinePlaces::trackAt(int y) const {
    const QRect area = tracksArea();
    const LayoutRow* row = state_.hasTracks() && area.top() <= y && y <= area.bottom()
                               ? state_.tracks().layout().rowAt(state_.scroll().toLayoutY(y - area.top()))
                               : nullptr;
    return row ? row->track : noIndex;
}

}  // namespace lanescope::views
