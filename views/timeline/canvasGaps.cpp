// SPDX-License-Identifier: GPL-3.0-or-later
#include <QPainter>
#include <algorithm>

#include "views/timeline/TrackCanvas.h"

// What the canvas shows where nothing is drawn.
namespace lanescope::views {

QRect TrackCanvas::placeOn(const LayoutRow& row, TimeRange range) const {
    const TimeScale axis = scale();
    const double left = std::clamp(axis.toX(range.startNs), -2.0, width() + 2.0);
    const double right = std::clamp(axis.toX(range.endNs), -2.0, width() + 2.0);
    const int pinned = row.top < state_.pinnedHeight() ? 0 : state_.pinnedHeight();
    const QRect place(static_cast<int>(left), state_.toScreenY(row.top),
                      std::max(1, static_cast<int>(right - left)), row.height - 1);
    // What has scrolled under the pinned rows is not to be seen.
    return place.intersected(QRect(0, pinned, width(), height() - pinned));
}

void TrackCanvas::showEmptyPlace(QPoint position) {
    if (!state_.emptyPlaces() || !state_.hasTracks()) return;
    const LayoutRow* row = state_.layout().rowAt(state_.toLayoutY(position.y()));
    if (!row) return;
    const auto place = state_.emptyPlaces()(row->track, scale().toTimeNs(position.x() + 0.5));
    if (!place) return;
    if (!place->range.isEmpty()) hoveredGap_ = placeOn(*row, place->range);
    hoverRectangle_ = hoveredGap_;
    card_.setContent(place->title, place->detail, place->color);
    card_.place(position, rect(), font());
}

bool TrackCanvas::activateEmptyPlace(QPoint position) {
    if (!state_.emptyPlaces() || !state_.hasTracks()) return false;
    const LayoutRow* row = state_.layout().rowAt(state_.toLayoutY(position.y()));
    if (!row) return false;
    const int64_t timeNs = scale().toTimeNs(position.x() + 0.5);
    if (!state_.emptyPlaces()(row->track, timeNs)) return false;
    emit state_.emptyPlaceActivated(row->track, timeNs);
    return true;
}

void TrackCanvas::paintGapMark(QPainter& painter) const {
    if (!state_.gapMark() || !state_.hasTracks()) return;
    const GapMark& mark = *state_.gapMark();
    if (!mark.range.overlaps(state_.visible())) return;
    QColor fill = mark.color;
    fill.setAlpha(110);
    for (const TimelineState::Band& band : state_.bands(height())) {
        for (const LayoutRow& row : band.rows) {
            if (std::find(mark.tracks.begin(), mark.tracks.end(), row.track) == mark.tracks.end())
                continue;
            const QRect place = placeOn(row, mark.range);
            if (place.isEmpty()) continue;
            painter.fillRect(place, fill);
            painter.setBrush(QBrush(mark.color, Qt::BDiagPattern));
            painter.setPen(QPen(state_.theme().text, 1));
            painter.drawRect(place.adjusted(0, 0, -1, -1));
        }
    }
}

}  // namespace lanescope::views
