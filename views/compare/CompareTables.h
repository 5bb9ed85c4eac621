// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QTabWidget>
#include <optional>
#include <vector>

#include "model/compare/ComparisonTable.h"
#include "views/compare/ComparisonJob.h"
#include "views/jobs/LazyTab.h"
#include "views/tables/ReportView.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// Rows of a comparison with its own number format. Columns of lost time are tinted by side and
/// have a bar of the time at stake.
class DifferenceModel : public ReportModel {
    Q_OBJECT
  public:
    explicit DifferenceModel(QObject* parent = nullptr);

    /// Sets the table with the plain numbers of the next `setTable`.
    void setComparison(compare::ComparisonTable table);
    void setTheme(const Theme& theme);
    /// Returns the first column of lost time, or -1.
    int lostColumn() const;
    /// Returns the candidate's loss in this row; negative = gain, 0 = none given.
    int64_t lostNsAt(int row) const { return lostNsAt(row, lostColumn()); }

    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

  private:
    bool isLostColumn(int column) const;
    int64_t lostNsAt(int row, int column) const;

    compare::ComparisonTable comparison_;
    std::vector<int64_t> maxLossNs_;  // by column; 0 for columns other than lost time
    Theme theme_ = Theme::light();
};

/// The differences between two runs as tables sorted by lost time: one tab each for parts, contributors, kernels,
/// collectives, copies, ranges and so on. Tabs without rows are hidden; the others are filled when first shown. A click
/// or Enter on a row requests its place on the timelines.
class CompareTables : public QTabWidget {
    Q_OBJECT
  public:
    explicit CompareTables(QWidget* parent = nullptr);

    void setPair(const ComparedPair& shown);
    void clearTables();
    void setTheme(const Theme& theme);
    /// Shows the contributors to this part; nullopt shows all parts.
    void setPart(std::optional<analysis::StepPart> part);
    LazyTab* currentTab() const { return qobject_cast<LazyTab*>(currentWidget()); }
    /// Returns the tab's table; creates it if necessary.
    ReportView* find(const QString& title);

  signals:
    void rowChosen(const lanescope::compare::RowLead& row);
    void partChosen(std::optional<lanescope::analysis::StepPart> part);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    struct Page {
        QString title;
        PanelTab<ReportView>* tab;
        std::vector<compare::RowLead> leads;
        std::optional<compare::ComparisonTable> pending;  ///< Not yet shown by the view.
        bool isFitted = false;
    };
    void addPage(const QString& title, const QString& toolTip);
    void setPage(size_t page, compare::ComparisonTable table);
    ReportView* makeView(size_t page);
    void fill(size_t page, ReportView& view);
    void fillVisible();
    void fillPartBox();
    void applyPart();
    void filterByPart(ReportView& view) const;

    std::vector<Page> pages_;
    QComboBox* partBox_;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
