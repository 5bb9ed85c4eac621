// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/HoverCard.h"

#include <QPainter>
#include <algorithm>

#include "views/theme/Theme.h"

namespace lanescope::views {
namespace {

constexpr int widest = 440;
constexpr int inset = 10;
constexpr int colorBar = 4;
constexpr int distance = 16;  // from the pointer
constexpr int mostTitleLines = 4;
constexpr int titleFlags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWrapAnywhere;

QFont titleFont(QFont font) {
    font.setWeight(QFont::DemiBold);
    return font;
}

}  // namespace

void HoverCard::setContent(const QString& title, const QString& detail, const QColor& color) {
    title_ = title;
    detail_ = detail;
    color_ = color;
}

void HoverCard::place(QPoint pointer, QRect bounds, const QFont& font) {
    const QFontMetrics bold(titleFont(font));
    const QFontMetrics plain(font);
    const int room = std::min(widest, bounds.width() - 2 * inset - colorBar - 8);
    if (!isVisible() || room < 40) {
        rectangle_ = {};
        return;
    }
    QRect title = bold.boundingRect(QRect(0, 0, room, 10'000), titleFlags, title_);
    title.setHeight(std::min(title.height(), mostTitleLines * bold.lineSpacing()));
    const QRect detail = plain.boundingRect(QRect(0, 0, room, 10'000), Qt::AlignLeft, detail_);
    const QSize size(std::max(title.width(), detail.width()) + 2 * inset + colorBar + 2,
                     title.height() + 4 + detail.height() + 2 * inset - 4);

    QPoint at = pointer + QPoint(distance, distance);
    if (at.x() + size.width() > bounds.right() - 4) at.setX(pointer.x() - distance - size.width());
    if (at.y() + size.height() > bounds.bottom() - 4)
        at.setY(pointer.y() - distance - size.height());
    at.setX(std::clamp(at.x(), bounds.left() + 4,
                       std::max(bounds.left() + 4, bounds.right() - size.width())));
    at.setY(std::clamp(at.y(), bounds.top() + 4,
                       std::max(bounds.top() + 4, bounds.bottom() - size.height())));
    rectangle_ = QRect(at, size);
    titleArea_ =
        QRect(at + QPoint(inset + colorBar, inset - 2), QSize(title.width() + 2, title.height()));
    detailArea_ = QRect(QPoint(titleArea_.left(), titleArea_.bottom() + 5),
                        QSize(detail.width() + 2, detail.height()));
}

void HoverCard::paint(QPainter& painter, const QFont& font, const Theme& theme) const {
    if (!isVisible() || rectangle_.isEmpty()) return;
    painter.fillRect(rectangle_, theme.separator);
    painter.fillRect(rectangle_.adjusted(1, 1, -1, -1), theme.card);
    painter.fillRect(QRect(rectangle_.topLeft(), QSize(colorBar, rectangle_.height())), color_);
    painter.setFont(titleFont(font));
    painter.setPen(theme.text);
    painter.drawText(titleArea_, titleFlags, title_);
    painter.setFont(font);
    painter.setPen(theme.mutedText);
    painter.drawText(detailArea_, Qt::AlignLeft | Qt::AlignTop, detail_);
}

}  // namespace lanescope::views
