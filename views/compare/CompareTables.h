#pragma once

#include <QTabWidget>
#include <optional>
#include <vector>

#include "views/compare/comparisonTables.h"
#include "views/theme/Theme.h"

class QComboBox;

namespace lanescope {

class DifferenceModel;
class ReportView;

/// What changed between two runs, as tables sorted by time lost: one tab each for parts,
/// everything that contributes to them, kernels, collectives, copies, ranges and so on. Tabs
/// without rows are not there. A click or Enter on a row asks to see it on the timelines.
class CompareTables : public QTabWidget {
    Q_OBJECT
  public:
    explicit CompareTables(QWidget* parent = nullptr);

    void setPair(const ComparedPair& shown);
    void clearTables();
    void setTheme(const Theme& theme);
    /// Shows what this part is made of; nothing shows all parts.
    void setPart(std::optional<StepPart> part);
    /// The table on the screen.
    ReportView& current() const;
    /// The table of this title, on the screen or not.
    ReportView* find(const QString& title) const;

  signals:
    void rowChosen(const lanescope::CompareRow& row);
    void partChosen(std::optional<lanescope::StepPart> part);

  private:
    struct Page {
        QString title;
        DifferenceModel* model;
        ReportView* view;
        std::vector<CompareRow> rows;
        bool isFitted = false;
    };
    void addPage(const QString& title, const QString& toolTip);
    void setPage(size_t page, CompareTable table);
    void fillPartBox();
    void applyPart();

    std::vector<Page> pages_;
    QComboBox* partBox_;
};

}  // namespace lanescope
