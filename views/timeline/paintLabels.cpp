// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/paintLabels.h"

#include <QPainter>
#include <algorithm>

#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

constexpr int firstIndent = 8;
constexpr int indentPerDepth = 16;
constexpr int chevronReach = 6;  ///< From its middle to what is beside it.
constexpr int gapBeforeTitle = 8;
constexpr int topInset = 5;
constexpr int rightInset = 12;
constexpr int markWidth = 4;
constexpr int pinSize = 16;

/// How much larger than usual the letters are, and so what is clicked beside them; at least 1.
double scaleOf(const QFont& font) {
    constexpr double usualHeight = 17;
    return std::max(1.0, QFontMetrics(font).height() / usualHeight);
}

int scaled(int length, const QFont& font) {
    return qRound(length * scaleOf(font));
}

void paintChevron(QPainter& painter, QPointF center, double scale, bool isFolded,
                  const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(center);
    painter.scale(scale, scale);
    painter.setPen(QPen(color, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const double reach = 3.5;
    const double depth = 1.75;
    const QPointF tip = isFolded ? QPointF(depth, 0) : QPointF(0, depth);
    const QPointF side = isFolded ? QPointF(-depth, reach) : QPointF(reach, -depth);
    const QPointF other = isFolded ? QPointF(-depth, -reach) : QPointF(-reach, -depth);
    const QPointF points[] = {other, tip, side};
    painter.drawPolyline(points, 3);
    painter.restore();
}

/// A drawing pin, upright if it holds and slanted if it could.
void paintPin(QPainter& painter, const QRect& area, bool isPinned, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(QRectF(area).center());
    painter.scale(area.width() / double{pinSize}, area.width() / double{pinSize});
    if (!isPinned) painter.rotate(35);
    painter.setPen(QPen(color, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(isPinned ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawRect(QRectF(-2, -5.5, 4, 5));
    painter.drawLine(QPointF(-4, -0.5), QPointF(4, -0.5));
    painter.drawLine(QPointF(0, -0.5), QPointF(0, 6));
    painter.restore();
}

/// Of the part of a row that its title stands in.
int titleRowHeight(const QFont& font) {
    return std::max(28, QFontMetrics(font).height() + 2 * topInset);
}

void paintTexts(QPainter& painter, const TimelineState& state, uint32_t track, const QRect& area,
                const QFont& font) {
    const Theme& theme = state.theme();
    QFont titleFont = font;
    if (state.trace()->tracks[track].depth == 0) titleFont.setWeight(QFont::DemiBold);
    const QFontMetrics titleMetrics(titleFont);
    const QFontMetrics plainMetrics(font);
    const QString title =
        titleMetrics.elidedText(labelTitle(*state.trace(), track), Qt::ElideMiddle, area.width());
    const QString subtitle = labelSubtitle(*state.trace(), state.layout(), track);
    const bool isStacked =
        !subtitle.isEmpty() && area.height() >= titleMetrics.height() + plainMetrics.height() + 6;
    const int titleHeight = titleMetrics.height();
    // Titles of high rows stand beside their first lane, where the eye begins and the chevron is.
    const int top = std::min(topInset, (area.height() - titleHeight) / 2);

    painter.setFont(titleFont);
    painter.setPen(theme.text);
    painter.drawText(QPoint(area.left(), area.top() + top + titleMetrics.ascent()), title);
    if (subtitle.isEmpty()) return;
    painter.setFont(font);
    painter.setPen(theme.mutedText);
    if (isStacked) {
        const int baseline = area.top() + top + titleHeight + 2 + plainMetrics.ascent();
        painter.drawText(QPoint(area.left(), baseline),
                         plainMetrics.elidedText(subtitle, Qt::ElideRight, area.width()));
        return;
    }
    const int used = titleMetrics.horizontalAdvance(title) + 8;
    if (area.width() - used < 32) return;
    painter.drawText(QPoint(area.left() + used, area.top() + top + titleMetrics.ascent()),
                     plainMetrics.elidedText(subtitle, Qt::ElideRight, area.width() - used));
}

void paintRow(QPainter& painter, const TimelineState& state, const LayoutRow& row,
              const QRect& area, const QFont& font, const LabelMarks& marks) {
    const Theme& theme = state.theme();
    const bool isHovered = marks.hovered == row.track;
    const bool isCurrent = marks.current == row.track;
    if (row.isHeader) painter.fillRect(area, theme.bandAt(state.trace()->tracks[row.track].depth));
    if (marks.flashed == row.track)
        painter.fillRect(area, Theme::mix(theme.panel, theme.accent, 0.4));
    if (isHovered || marks.dragged == row.track) painter.fillRect(area, theme.hover);
    if (state.mark().isValid())
        painter.fillRect(QRect(0, area.top(), markWidth, area.height()), state.mark());
    if (state.isUnmatched(row.track)) painter.setOpacity(0.5);
    const int indent = firstIndent + indentPerDepth * row.depth;
    if (row.canFold) {
        const double middle = area.top() + std::min(area.height(), titleRowHeight(font)) / 2.0;
        paintChevron(painter, {double(indent + scaled(chevronReach, font)), middle}, scaleOf(font),
                     row.isFolded, theme.mutedText);
    }
    const bool isPinned = state.layout().isPinned(row.track);
    const bool hasPin = isHovered || isPinned;
    const int left = indent + 2 * scaled(chevronReach, font) + gapBeforeTitle;
    const int right = rightInset + (hasPin ? scaled(pinSize, font) + 2 : 0);
    paintTexts(painter, state, row.track, area.adjusted(left, 0, -right, 0), font);
    if (hasPin) {
        const bool isStrong = isPinned || (isHovered && marks.isOnPin);
        paintPin(painter, pinArea(row, area.top(), area.width(), font), isPinned,
                 isStrong ? theme.accent : theme.mutedText);
    }
    painter.setOpacity(1);
    painter.fillRect(QRect(0, area.bottom() + 1, area.width(), 1), theme.separator);
    if (isCurrent && marks.hasFocus) {
        painter.setPen(QPen(theme.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(area.adjusted(1, 1, -2, 0));
    } else if (isCurrent) {
        painter.fillRect(QRect(area.width() - 4, area.top(), 3, area.height()), theme.accent);
    }
}

}  // namespace

QRect pinArea(const LayoutRow& row, int top, int width, const QFont& font) {
    const int size = scaled(pinSize, font);
    const int inset = std::max(0, (std::min(row.height, titleRowHeight(font)) - size) / 2);
    return {width - rightInset - size + 2, top + inset, size, size};
}

QString labelTitle(const Trace& trace, uint32_t track) {
    return toQString(trace.tracks[track].title).simplified();
}

QString labelSubtitle(const Trace& trace, const TrackLayout& layout, uint32_t track) {
    QString text = toQString(trace.tracks[track].subtitle).simplified();
    const uint32_t group = layout.parentOf(track);
    if (!layout.isPinned(track) || group == noIndex) return text;
    const QString of = labelTitle(trace, group);
    return text.isEmpty() ? of : of + QStringLiteral(" · ") + text;
}

void paintLabels(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                 const LabelMarks& marks) {
    if (!state.hasTracks()) return;
    const Theme& theme = state.theme();
    painter.save();
    for (const TimelineState::Band& band : state.bands(size.height())) {
        painter.setClipRect(QRect(0, band.top, size.width(), band.bottom - band.top));
        for (const LayoutRow& row : band.rows)
            paintRow(painter, state, row,
                     QRect(0, row.top - band.scrollY, size.width(), row.height - 1), font, marks);
    }
    painter.setClipRect(QRect(QPoint(), size));
    if (const int pinned = state.pinnedHeight(); pinned > 0)
        painter.fillRect(QRect(0, pinned - 2, size.width(), 2), theme.mutedText);
    if (marks.dropY)
        painter.fillRect(QRect(0, state.toScreenY(*marks.dropY) - 2, size.width(), 3),
                         theme.accent);
    painter.restore();
}

}  // namespace lanescope::views
