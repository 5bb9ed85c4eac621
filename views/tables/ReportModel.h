// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QMetaType>
#include <QSortFilterProxyModel>
#include <QStringList>

#include "model/text/ReportTable.h"

namespace lanescope::views {

/// A piece of a stacked bar: its share [0, 1] of the whole bar, and its colour.
struct BarSegment {
    double share = 0;
    QColor color;
};

/// A `ReportTable` for Qt's item views: formatted text for display, plain numbers for sorting. Owns
/// its copy of the table. GUI thread.
class ReportModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Role {
        SortRole = Qt::UserRole,  ///< The plain number or text; invalid for an empty cell.
        ShareRole,                ///< Share [0, 1] of the bar, as in percent columns; else invalid.
        BarColorRole,             ///< Colour of this bar; invalid for the default.
        SegmentsRole,             ///< `QList<BarSegment>` of a stacked bar; else invalid.
        CopyRole,                 ///< Text of the exact value in the unit of the header's `CopyRole`.
    };

    explicit ReportModel(QObject* parent = nullptr);

    /// Replaces all rows. Pads short rows with empty cells.
    virtual void setTable(ReportTable table);
    const ReportTable& table() const { return table_; }
    Unit unitOf(int column) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  protected:
    /// Returns the cell, or null outside the table.
    const Cell* cellAt(int row, int column) const;

  private:
    QString toolTip(const Cell& cell, int column) const;

    ReportTable table_;
};

/// A filter of a `ReportModel`: sorts by value and keeps the rows whose text columns contain every typed word.
class ReportFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit ReportFilter(QObject* parent = nullptr);
    /// Sets words separated by spaces; case is ignored. Empty text keeps every row.
    void setText(const QString& text);
    /// Keeps rows whose first column is one of `groups`; empty keeps every row.
    void setGroups(const QStringList& groups);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

  private:
    QStringList filterWords_;
    QStringList groups_;
};

}  // namespace lanescope::views

Q_DECLARE_METATYPE(QList<lanescope::views::BarSegment>)
