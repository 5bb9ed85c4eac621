// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QModelIndexList>
#include <QString>
#include <QStyledItemDelegate>
#include <QWidget>

#include "model/text/ReportTable.h"

class QAbstractItemModel;

namespace lanescope::views {

/// Rows of a view as text that spreadsheets take from the clipboard: a line of headers, then one
/// line a row, cells separated by tabs. Tabs and line breaks inside a cell become spaces. All rows
/// of `model` if `rows` is empty, in the order of the view.
QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& rows);

/// Draws a thin bar under cells that have a `ReportModel::ShareRole`; others look as usual.
class ShareBarDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    explicit ShareBarDelegate(QObject* parent = nullptr);

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

}  // namespace lanescope::views

class QHBoxLayout;
class QLabel;
class QLineEdit;
class QTableView;

namespace lanescope::views {

class ReportFilter;
class ReportModel;
class ShareBarDelegate;

/// A sortable, filterable table of one report. Ctrl+C copies the selected rows (all if none) as
/// tab-separated text; a double click or Enter on a row asks to see its name on the timeline.
class ReportView : public QWidget {
    Q_OBJECT
  public:
    explicit ReportView(QWidget* parent = nullptr);
    /// Shows `model` (taken as a child) instead of a plain `ReportModel`.
    ReportView(ReportModel* model, QWidget* parent);

    /// Replaces the rows; filter, sorting and column widths stay while the columns stay the same.
    void setTable(ReportTable table);
    ReportModel& model() const { return *model_; }
    ReportFilter& filter() const { return *filter_; }
    QTableView& table() const { return *table_; }
    QLineEdit& filterEdit() const { return *filterEdit_; }
    /// Fits the columns to their content and sorts by one of them; -1 is the order of the report.
    void fitAndSort(int column, Qt::SortOrder order);
    /// A sentence in place of the table while there are no rows.
    void setEmptyText(const QString& text);
    void setFilterVisible(bool isVisible);
    /// Whether the number of rows stands beside the filter even if it lets all of them through.
    void setTotalShown(bool isShown);
    /// What the rows count, beside the filter: "selected range, 25 ms". Empty for the whole trace.
    void setRemark(const QString& text);
    QString remark() const;
    /// Puts a control of the owner after the filter.
    void addControl(QWidget* control);
    /// The row of filter, count and remark, for an owner who has a row of its own to put it into.
    QWidget& bar() const { return *bar_; }

  public slots:
    void copySelection() const;

  signals:
    /// The user asks for a row on the timeline; `text` is what to search for.
    void nameActivated(const QString& text);
    /// The same, by row of the model.
    void rowActivated(int row);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void build();
    void arrange();
    /// The column of long names, which takes the spare width, or -1.
    int stretchedColumn() const;
    void fitColumns();
    void stretchName();
    void updateCount();

    ReportModel* model_;
    ReportFilter* filter_;
    ShareBarDelegate* delegate_;
    QLineEdit* filterEdit_;
    QLabel* countLabel_;
    bool isTotalShown_ = true;
    QLabel* remark_;
    QWidget* bar_ = nullptr;
    QHBoxLayout* top_ = nullptr;
    QTableView* table_;
    QLabel* emptyLabel_;
};

}  // namespace lanescope::views
