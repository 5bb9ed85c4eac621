// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ShareBarDelegate.h"

#include <QPainter>

#include "views/tables/ReportModel.h"

namespace lanescope::views {

ShareBarDelegate::ShareBarDelegate(QObject* parent) : QStyledItemDelegate(parent) {}

void ShareBarDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const QVariant share = index.data(ReportModel::ShareRole);
    if (!share.isValid()) return;

    constexpr int height = 3;
    constexpr int margin = 4;
    QRectF groove = option.rect.adjusted(margin, 0, -margin, 0);
    groove.setTop(groove.bottom() - height);
    QRectF bar = groove;
    bar.setWidth(groove.width() * share.toDouble());

    const QVariant own = index.data(ReportModel::BarColorRole);
    const QColor color =
        own.isValid() ? own.value<QColor>() : option.palette.color(QPalette::Highlight);
    QColor faint = color;
    faint.setAlpha(36);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(faint);
    painter->drawRoundedRect(groove, height / 2.0, height / 2.0);
    painter->setBrush(option.state & QStyle::State_Selected
                          ? option.palette.color(QPalette::HighlightedText)
                          : color);
    painter->drawRoundedRect(bar, height / 2.0, height / 2.0);
    painter->restore();
}

}  // namespace lanescope::views
