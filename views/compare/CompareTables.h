// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTabWidget>
#include <optional>
#include <vector>

#include "model/compare/ComparisonTable.h"
#include "views/compare/ComparedRuns.h"
#include "views/jobs/LazyTab.h"
#include "views/theme/Theme.h"

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
    void setPart(std::optional<compare::StepPart> part);
    LazyTab* currentTab() const;
    /// The first tab with this in its title; null if there is none.
    LazyTab* findTab(const QString& title) const;
    /// Its table, made if nobody has looked at it.
    ReportView* find(const QString& title);

  signals:
    void rowChosen(const lanescope::compare::RowLead& row);
    void partChosen(std::optional<lanescope::compare::StepPart> part);

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
