// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/MarkStrip.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/notes/marksAsText.h"
#include "model/values/formatValue.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

constexpr int pennantWidth = 11;
constexpr int widestFlag = 220;
constexpr int textInset = 6;

QString tipOf(const Mark& mark) {
    QString text = mark.text.empty() ? MarkStrip::tr("(no text)") : toQString(printable(mark.text));
    text += '\n' + toQString(formatTimestamp(mark.range.startNs));
    if (!mark.range.isEmpty())
        text += MarkStrip::tr(", %1 long").arg(toQString(formatDuration(mark.range.durationNs())));
    if (!mark.track.empty()) text += '\n' + toQString(printable(trackText(mark)));
    return text;
}

}  // namespace

MarkStrip::MarkStrip(MarkStore& store, TimelineView& timeline)
    : store_(store), timeline_(timeline) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusProxy(&timeline);
    setAccessibleName(tr("Marks"));
    const auto repaint = [this] { update(); };
    connect(&store_, &MarkStore::changed, this, repaint);
    connect(&store_, &MarkStore::selectionChanged, this, repaint);
    connect(&timeline_, &TimelineView::placesChanged, this, repaint);
}

double MarkStrip::toX(int64_t timeNs) const {
    return timeline_.xOf(timeNs) - x();
}

TimeRange MarkStrip::shownRange(const Mark& mark) const {
    return isDragging_ && mark.id == pressed_ ? mark.range.shifted(draggedNs_) : mark.range;
}

std::vector<MarkStrip::Flag> MarkStrip::flags() const {
    std::vector<Flag> found;
    for (const Mark& mark : store_.marks()) {
        const TimeRange range = shownRange(mark);
        const double from = toX(range.startNs), to = toX(range.endNs);
        if (to < 0 || from > width()) continue;
        // A range whose start is out of sight keeps its flag at the edge.
        const int left = static_cast<int>(std::floor(std::max(from, 0.0)));
        found.push_back({&mark, QRect(left, 2, 0, height() - 6), range});
    }
    // Of those at one place always the same lies on top.
    std::ranges::stable_sort(found, {}, [](const Flag& flag) { return flag.area.left(); });
    for (size_t index = 0; index < found.size(); ++index) {
        // Each ends where the next begins, so that all can be read and grasped.
        const int left = found[index].area.left();
        int room = std::max(pennantWidth, width() - 2 - left);
        if (index + 1 < found.size())
            room = std::min(room, found[index + 1].area.left() - left - 1);
        found[index].area.setWidth(widthOf(*found[index].mark, room));
    }
    return found;
}

/// Texts are measured where there is room for them only: of any number of marks some hundred.
int MarkStrip::widthOf(const Mark& mark, int room) const {
    constexpr int narrowest = 3;
    if (room <= pennantWidth || mark.text.empty())
        return std::max(narrowest, std::min(room, pennantWidth));
    const int textWidth = QFontMetrics(font()).horizontalAdvance(toQString(mark.text));
    return std::min(room, std::clamp(textWidth + 2 * textInset, pennantWidth, widestFlag));
}

QRect MarkStrip::flagOf(const std::string& id) const {
    for (const Flag& flag : flags())
        if (flag.mark->id == id) return flag.area;
    return {};
}

const Mark* MarkStrip::markAt(QPoint position) const {
    const Mark* found = nullptr;
    for (const Flag& flag : flags())
        if (flag.area.adjusted(-1, -2, 1, 4).contains(position)) found = flag.mark;
    return found;
}

void MarkStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = timeline_.theme();
    painter.fillRect(rect(), theme.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.separator);
    painter.setRenderHint(QPainter::Antialiasing);
    const std::vector<Flag> all = flags();
    for (size_t index = 0; index < all.size(); ++index) {
        paintStretch(painter, all[index]);
        // Many at one place are one flag.
        const bool isCovered =
            index + 1 < all.size() && all[index + 1].area.left() == all[index].area.left();
        const std::string& id = all[index].mark->id;
        if (!isCovered || id == store_.selected() || id == hovered_) paintFlag(painter, all[index]);
    }
}

void MarkStrip::paintStretch(QPainter& painter, const Flag& flag) const {
    if (flag.range.isEmpty()) return;
    const double from = std::max(0.0, toX(flag.range.startNs));
    const double to = std::min<double>(width(), toX(flag.range.endNs));
    painter.fillRect(QRectF(from, height() - 5, std::max(1.0, to - from), 4),
                     QColor::fromRgb(flag.mark->color));
}

void MarkStrip::paintFlag(QPainter& painter, const Flag& flag) const {
    const Theme& theme = timeline_.theme();
    const QColor color = QColor::fromRgb(flag.mark->color);
    const bool isSelected = flag.mark->id == store_.selected();
    const bool isHovered = flag.mark->id == hovered_;
    painter.fillRect(QRect(flag.area.left(), 2, 2, height() - 3), color);
    QPainterPath shape;
    const QRectF area = flag.area;
    // A pennant without text has a notch, so that it does not look like a slice.
    if (area.width() <= pennantWidth) {
        shape.addPolygon(QPolygonF({area.topLeft(),
                                    {area.right(), area.top() + 4.5},
                                    {area.left(), area.top() + 9},
                                    area.topLeft()}));
    } else {
        shape.addRoundedRect(area, 3, 3);
    }
    painter.fillPath(shape, isHovered ? Theme::mix(color, theme.text, 0.12) : color);
    if (isSelected) painter.strokePath(shape, QPen(theme.text, 1.5));
    if (area.width() <= pennantWidth) return;
    painter.setPen(theme.textOn(color));
    const QRectF room = area.adjusted(textInset, 0, -textInset + 2, 0);
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetrics(font()).elidedText(toQString(printable(flag.mark->text)),
                                                     Qt::ElideRight, int(room.width())));
}

void MarkStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const Mark* mark = markAt(event->pos());
    pressed_ = mark ? mark->id : std::string();
    pressedX_ = event->pos().x();
    isDragging_ = false;
    draggedNs_ = 0;
    store_.select(pressed_);
    timeline_.setFocus(Qt::MouseFocusReason);
}

void MarkStrip::mouseMoveEvent(QMouseEvent* event) {
    if (!pressed_.empty() && (event->buttons() & Qt::LeftButton)) {
        isDragging_ = isDragging_ || std::abs(event->pos().x() - pressedX_) > clickTolerance;
        draggedNs_ = timeline_.timeAt(event->pos().x()) - timeline_.timeAt(pressedX_);
        return update();
    }
    const Mark* mark = markAt(event->pos());
    const std::string now = mark ? mark->id : std::string();
    if (now != hovered_) {
        hovered_ = now;
        setCursor(mark ? Qt::PointingHandCursor : Qt::ArrowCursor);
        update();
    }
}

void MarkStrip::mouseReleaseEvent(QMouseEvent*) {
    const Mark* mark = store_.find(std::exchange(pressed_, {}));
    if (!mark || !std::exchange(isDragging_, false)) return;
    Mark moved = *mark;
    moved.range = moved.range.shifted(draggedNs_);
    store_.change(moved);
    update();
}

void MarkStrip::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const Mark* mark = markAt(event->pos()))
        emit editRequested(mark->id);
    else
        emit newMarkRequested(timeline_.timeAt(x() + event->position().x()));
}

void MarkStrip::leaveEvent(QEvent*) {
    hovered_.clear();
    update();
}

bool MarkStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const Mark* mark = markAt(help->pos());
        QToolTip::showText(help->globalPos(),
                           mark ? plainToolTip(tipOf(*mark)).replace('\n', "<br>")
                                : tr("Double click sets a mark here; M marks what is selected."),
                           this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace lanescope::views
