// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/MarkLines.h"

#include <QPaintEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "model/notes/markTracks.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::views {
namespace {

constexpr int faintAlpha = 120;
constexpr int rangeAlpha = 24;

QColor faint(QColor color, int alpha) {
    color.setAlpha(alpha);
    return color;
}

}  // namespace

MarkLines::MarkLines(MarkStore& store, TimelineView& timeline)
    : QWidget(&timeline), store_(store), timeline_(timeline) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    setFocusPolicy(Qt::NoFocus);
    timeline_.setOverlay(this);
    const auto repaint = [this] { update(); };
    connect(&store_, &MarkStore::changed, this, &MarkLines::follow);
    connect(&store_, &MarkStore::selectionChanged, this, repaint);
    connect(&timeline_, &TimelineView::placesChanged, this, &MarkLines::follow);
    follow();
}

void MarkLines::follow() {
    // Without marks there is nothing to lie in the way of painting.
    setVisible(!store_.marks().empty());
    setGeometry(timeline_.tracksArea());
    raise();
    update();
}

void MarkLines::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    painter.setClipRect(event->rect());
    for (const Mark& mark : store_.marks()) paintMark(painter, mark);
}

void MarkLines::paintMark(QPainter& painter, const Mark& mark) const {
    const double from = timeline_.xOf(mark.range.startNs) - x();
    const double to = timeline_.xOf(mark.range.endNs) - x();
    if (to < -2 || from > width() + 2) return;
    const QColor color = QColor::fromRgb(mark.color);
    const int width = mark.id == store_.selected() ? 2 : 1;
    // Cut to the widget first: far in, the other end may lie beyond what a painter can count.
    const int left = static_cast<int>(std::floor(std::max(from, -4.0)));
    const int right = static_cast<int>(std::floor(std::min<double>(to, this->width() + 4)));
    const auto paintIn = [&](const QRect& area, int lineAlpha) {
        const QColor line = faint(color, lineAlpha);
        painter.fillRect(QRect(left, area.top(), width, area.height()), line);
        if (right > left + 2) {
            painter.fillRect(QRect(left, area.top(), right - left, area.height()),
                             faint(color, rangeAlpha));
            painter.fillRect(QRect(right, area.top(), width, area.height()), line);
        }
    };
    paintIn(rect(), mark.track.empty() ? 190 : faintAlpha);
    if (mark.track.empty() || !timeline_.trace()) return;
    const uint32_t track = trackOfPath(*timeline_.trace(), mark.track);
    if (track == noIndex) return;
    const QRect row = timeline_.trackArea(track).translated(-pos());
    if (!row.isEmpty()) paintIn(row.intersected(rect()), 255);
}

}  // namespace lanescope::views
