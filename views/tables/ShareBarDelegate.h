// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace lanescope::views {

/// Draws a thin bar under cells that have a `ReportModel::ShareRole`; others look as usual.
class ShareBarDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    explicit ShareBarDelegate(QObject* parent = nullptr);

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

}  // namespace lanescope::views
