// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "model/explain/StepGrid.h"
#include "model/trace/Trace.h"
#include "views/explain/ExplainedRun.h"
#include "views/theme/Theme.h"

class QComboBox;
class QStackedWidget;

namespace lanescope::views {

class LatestJob;
class RankLens;
class ReportPanel;
class ReportView;

/// The steps of a run: a table of steps and ranks, a map of them, and how late ranks enter
/// collectives.
class StepsPanel : public QWidget {
    Q_OBJECT
  public:
    explicit StepsPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// Null while the run is not yet explained.
    void setRun(ExplainedRunPtr run);
    /// The selected range; collectives are of that.
    void setRange(std::optional<TimeRange> range);
    void setTheme(const Theme& theme);

    QComboBox& choice() const { return *choice_; }
    QComboBox& measure() const { return *measure_; }
    ReportView& table() const { return *table_; }
    RankLens& lens() const { return *lens_; }
    /// The table on the screen; null for the map.
    ReportView* currentTable() const;
    bool isStale() const;

  signals:
    void stepActivated(lanescope::explain::StepPlace place);
    /// The user wants to see this moment.
    void momentActivated(qint64 timeNs);

  private:
    void build();
    void showPage(int page);
    void fillMeasures();
    ReportPanel* addLateness(const QString& title, const QString& report);

    ExplainedRunPtr run_;
    std::vector<explain::StepPlace> places_;  ///< Of the rows of the table.
    LatestJob* job_;
    QComboBox* choice_;
    QComboBox* measure_;
    QStackedWidget* bars_;  ///< What filters and counts the rows of each page.
    QStackedWidget* pages_;
    ReportView* table_;
    RankLens* lens_;
    std::vector<ReportPanel*> lateness_;
};

}  // namespace lanescope::views
