// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTabWidget>
#include <optional>
#include <vector>

#include "model/compare/ComparisonTable.h"
#include "views/compare/ComparisonJob.h"
#include "views/jobs/LazyTab.h"
#include "views/tables/ReportModel.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// Rows of a comparison, with its numbers as it writes them. Every column of lost time is tinted by
/// who lost it, and has a bar of the time at stake.
class DifferenceModel : public ReportModel {
    Q_OBJECT
  public:
    explicit DifferenceModel(QObject* parent = nullptr);

    /// The table of which the next `setTable` has the plain numbers.
    void setComparison(compare::ComparisonTable table);
    void setTheme(const Theme& theme);
    /// The first column of time lost, or -1.
    int lostColumn() const;
    /// What the candidate lost in this row; negative if it gained, 0 if the row does not say.
    int64_t lostNsAt(int row) const { return lostNsAt(row, lostColumn()); }

    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

  private:
    bool isLostColumn(int column) const;
    int64_t lostNsAt(int row, int column) const;

    compare::ComparisonTable comparison_;
    std::vector<int64_t> greatestLossNs_;  // by column; 0 for others than lost time
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views

class QComboBox;

namespace lanescope::views {

class ReportView;

/// What changed between two runs, as tables sorted by time lost: one tab each for parts,
/// everything that contributes to them, kernels, collectives, copies, ranges and so on. Tabs
/// without rows are not there; others have content once somebody looks. A click or Enter on a row
/// asks to see it on the timelines.
class CompareTables : public QTabWidget {
    Q_OBJECT
  public:
    explicit CompareTables(QWidget* parent = nullptr);

    void setPair(const ComparedPair& shown);
    void clearTables();
    void setTheme(const Theme& theme);
    /// Shows what this part is made of; nothing shows all parts.
    void setPart(std::optional<analysis::StepPart> part);
    LazyTab* currentTab() const;
    /// The first tab with this in its title; null if there is none.
    LazyTab* findTab(const QString& title) const;
    /// Its table, made if nobody has looked at it.
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
        std::optional<compare::ComparisonTable> pending;  ///< What its view does not show yet.
        bool isFitted = false;
    };
    void addPage(const QString& title, const QString& toolTip);
    void setPage(size_t page, compare::ComparisonTable table);
    ReportView* makeView(size_t page);
    void fill(size_t page, ReportView& view);
    /// Those on the screen.
    void fillVisible();
    void fillPartBox();
    void applyPart();
    void filterByPart(ReportView& view) const;

    std::vector<Page> pages_;
    QComboBox* partBox_;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
