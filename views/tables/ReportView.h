// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QModelIndexList>
#include <QSortFilterProxyModel>
#include <QString>
#include <QStringList>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QWidget>

#include "model/text/ReportTable.h"
#include "views/text/shownText.h"

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

    using QAbstractTableModel::QAbstractTableModel;

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

/// Returns rows of a view as text that spreadsheets paste: a header line, then one line per row,
/// cells separated by tabs, with the texts of a role. Tabs and line breaks inside a cell become spaces. Returns all
/// rows of `model` if `rows` is empty, in the order of the view.
QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& rows, int role = Qt::DisplayRole);

/// Draws a thin bar under cells that have a `ReportModel::ShareRole` or `SegmentsRole`.
class ShareBarDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Returns the place of the stacked bar in a cell.
    static QRectF segmentsArea(const QRect& cell);

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

/// Makes a table, which has a parent, one of plain rows without a grid.
void styleTable(QTableView& table);

/// A sortable, filterable table of one report. Ctrl+C copies the selected rows (all if none) as
/// tab-separated text. A double click or Enter on a row requests its name on the timeline.
class ReportView : public QWidget {
    Q_OBJECT
  public:
    explicit ReportView(QWidget* parent = nullptr) : ReportView(new ReportModel, parent) {}
    /// Shows `model` (taken as a child) instead of a plain `ReportModel`.
    ReportView(ReportModel* model, QWidget* parent);

    /// Replaces the rows. Filter, sorting and column widths stay while the columns stay the same.
    void setTable(ReportTable table);
    ReportModel& model() const { return *model_; }
    ReportFilter& filter() const { return *filter_; }
    QTableView& table() const { return *table_; }
    /// Fits the columns to their content and sorts by `column`; -1 = the order of the report.
    void fitAndSort(int column, Qt::SortOrder order);
    /// Sets a sentence to show in place of a table without rows.
    void setEmptyText(const QString& text) { emptyLabel_->setText(text); }
    void setFilterVisible(bool isVisible) { bar_->setVisible(isVisible); }
    /// Shows the number of rows also if the filter keeps all of them.
    void setTotalShown(bool isShown);
    /// Sets the scope shown next to the filter: "selected range, 25 ms". Empty for the whole trace.
    void setRemark(const QString& text) { remark_->setText(text); }
    QString remark() const { return remark_->text(); }
    /// Adds a control of the owner after the filter.
    void addControl(QWidget* control) { top_->insertWidget(1, control); }
    /// Returns the row of filter, count and remark, for owners that place it elsewhere.
    QWidget& bar() const { return *bar_; }

  public slots:
    void copySelection() const;

  signals:
    /// Emitted when the user requests a row on the timeline; `text` is the text to search for.
    void nameActivated(const QString& text);
    /// Like `nameActivated`, by row of the model.
    void rowActivated(int row);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void arrange();
    /// Returns the column of long names, which gets the spare width, or -1.
    int stretchedColumn() const;
    void fitColumns();
    void intervalName();
    void updateCount();

    ReportModel* model_;
    ReportFilter* filter_ = new ReportFilter(this);
    ShareBarDelegate* delegate_ = new ShareBarDelegate(this);
    QLineEdit* filterEdit_ = new QLineEdit(this);
    QLabel* countLabel_ = new QLabel(this);
    bool isTotalShown_ = true;
    QLabel* remark_ = new QLabel(this);
    QWidget* bar_ = nullptr;
    QHBoxLayout* top_ = nullptr;
    QTableView* table_ = new QTableView(this);
    QLabel* emptyLabel_ = new WrappedLabel(this);
};

}  // namespace lanescope::views
