// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineState.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

namespace lanescope::views {

void TimelineView::setStripHeight(int height) {
    if (!strip_ || height == stripHeight_) return;
    stripHeight_ = height;
    for (QWidget* part : {stripLabel_, strip_})
        if (part) part->setVisible(height > 0);
    updateGeometry();
    arrange();
}

int TimelineView::scrollPosition() const {
    return state_->scrollY();
}

void TimelineView::setScrollPosition(int pixels) {
    state_->setScrollY(pixels);
}

QRect TimelineView::tracksArea() const {
    return canvas_->geometry();
}

QRect TimelineView::trackArea(uint32_t track) const {
    if (!state_->hasTracks() || track >= state_->trace()->tracks.size()) return {};
    const LayoutRow* row = state_->layout().visibleRowOf(track);
    if (!row) return {};
    const QRect area = tracksArea();
    return QRect(area.left(), area.top() + state_->toScreenY(row->top), area.width(), row->height)
        .intersected(area);
}

double TimelineView::xOf(int64_t timeNs) const {
    return tracksArea().left() + state_->scale(canvas_->width()).toX(timeNs);
}

int64_t TimelineView::timeAt(double x) const {
    return state_->scale(canvas_->width()).toTimeNs(x - tracksArea().left());
}

uint32_t TimelineView::trackAt(int y) const {
    const LayoutRow* row =
        state_->hasTracks() && tracksArea().top() <= y && y <= tracksArea().bottom()
            ? state_->layout().rowAt(state_->toLayoutY(y - tracksArea().top()))
            : nullptr;
    return row ? row->track : noIndex;
}

uint32_t TimelineView::trackOf(EventRef event) const {
    return trace() && event.isValid() ? trace()->locate(event).track : noIndex;
}

}  // namespace lanescope::views
