// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/FinderDelegate.h"

#include <QPainter>

#include "app/viewer/FinderModel.h"

namespace lanescope::viewer {
namespace {

constexpr int inset = 12;
constexpr int gap = 16;

}  // namespace

void FinderDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
    const bool isSelected = option.state & QStyle::State_Selected;
    if (isSelected) painter->fillRect(option.rect, option.palette.highlight());
    const QColor strong =
        option.palette.color(isSelected ? QPalette::HighlightedText : QPalette::Text);
    const QColor quiet = isSelected ? strong : option.palette.color(QPalette::PlaceholderText);
    const QFontMetrics metrics(option.font);
    QRect area = option.rect.adjusted(inset, 0, -inset, 0);
    painter->setFont(option.font);
    const auto putRight = [&](const QString& text) {
        if (text.isEmpty()) return;
        const int width = std::min(metrics.horizontalAdvance(text) + 2, area.width() / 3);
        painter->setPen(quiet);
        painter->drawText(QRect(area.right() - width, area.top(), width + 1, area.height()),
                          Qt::AlignVCenter | Qt::AlignRight,
                          metrics.elidedText(text, Qt::ElideRight, width));
        area.setRight(area.right() - width - gap);
    };
    putRight(index.data(FinderModel::KeyRole).toString());
    putRight(index.data(FinderModel::DetailRole).toString());
    painter->setPen(strong);
    painter->drawText(area, Qt::AlignVCenter | Qt::AlignLeft,
                      metrics.elidedText(index.data().toString(), Qt::ElideMiddle, area.width()));
}

QSize FinderDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {200, QFontMetrics(option.font).height() + 8};
}

}  // namespace lanescope::viewer
