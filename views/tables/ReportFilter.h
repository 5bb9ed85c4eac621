// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace lanescope::views {

/// Sorts a `ReportModel` by value and keeps the rows whose text columns contain every typed word.
class ReportFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit ReportFilter(QObject* parent = nullptr);
    /// Words are separated by spaces; case is ignored. Empty text keeps every row.
    void setText(const QString& text);
    /// Keeps rows whose first column is one of `groups`; empty keeps every row.
    void setGroups(const QStringList& groups);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

  private:
    QStringList words_;
    QStringList groups_;
};

}  // namespace lanescope::views
