// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QStringList>

#include "model/text/ReportTable.h"

namespace lanescope::views {

/// Shows a `ReportTable` to Qt's item views: formatted text to read, plain numbers to sort by.
/// Holds its own copy of the table. Use on the GUI thread.
class ReportModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Role {
        SortRole = Qt::UserRole,  ///< The bare number or text; invalid for an empty cell.
        ShareRole,  ///< [0, 1] of a full bar under the cell, as in percent columns; else invalid.
        BarColorRole,  ///< Colour of that bar; invalid for the usual one.
    };

    explicit ReportModel(QObject* parent = nullptr);

    /// Replaces all rows. Rows shorter than the columns are shown with empty cells.
    virtual void setTable(ReportTable table);
    const ReportTable& table() const { return table_; }
    Unit unitOf(int column) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  protected:
    /// The cell, or null outside the table.
    const Cell* cellAt(int row, int column) const;

  private:
    QString toolTip(const Cell& cell, int column) const;

    ReportTable table_;
};

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
