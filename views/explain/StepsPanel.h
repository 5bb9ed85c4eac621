// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStackedWidget>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/explain/StepGrid.h"
#include "model/trace/Trace.h"
#include "views/explain/StepStrip.h"
#include "views/jobs/LatestJob.h"
#include "views/tables/Panel.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

/// A map of a run: a row per rank, a column per step; the stronger the colour, the longer the step.
/// If there are more steps than pixels, a pixel shows the longest. A click, or the cursor keys,
/// choose a step; Enter or a double click go there.
class RankLens : public StepMap {
    Q_OBJECT
  public:
    explicit RankLens(QWidget* parent = nullptr);

    void setRun(ExplainedRunPtr run);
    void setMeasure(const explain::LensMeasure& measure);

    std::optional<explain::StepPlace> stepAt(QPoint position) const;
    QRectF cellOf(size_t row, size_t column) const;
    QColor colorOf(explain::StepPlace place) const;
    QString tipAt(explain::StepPlace place) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  signals:
    void stepActivated(lanescope::explain::StepPlace place);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;

  private:
    bool isEmpty() const { return !run_ || run_->grid.isEmpty(); }
    QRect mapArea() const;
    void measureLabels();
    int rowHeight() const;
    double columnWidth() const override { return double(mapArea().width()) / double(run_->grid.columnCount()); }
    /// Returns the height of the axis and the legend below the map.
    int footer() const { return 2 * fontMetrics().height() + 26; }
    void paintAxis(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;

    explain::LensMeasure measure_;
    explain::LensScale scale_;
    int labelWidth_ = 0;
};

class ReportPanel;
class ReportView;
class StepsModel;

/// The steps of a run: a table of steps and ranks, a map of them, and the delays of ranks at collectives.
class StepsPanel : public Panel {
    Q_OBJECT
  public:
    explicit StepsPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    /// Null while the run is not yet explained.
    void setRun(ExplainedRunPtr run);
    /// Offers the units that the steps can be, the first one as detected. A single one offers nothing.
    void setUnits(const std::vector<StepUnit>& units, const std::string& chosen);
    /// Collectives are limited to the range.
    void setRange(std::optional<TimeRange> range) override;
    void setTheme(const Theme& theme) override;

    /// Returns the visible table; null for the map.
    ReportView* table() const override;
    bool isStale() const override;

  signals:
    void stepActivated(lanescope::explain::StepPlace place);
    /// Emitted when the user asks to see this time.
    void timeActivated(qint64 timeNs);
    /// Emitted when the user chooses another unit; `pattern` is empty for the detected one.
    void unitChosen(const QString& pattern);

  private:
    void showPage(int page);
    void fillMeasures();
    ReportPanel* addLateness(const QString& title, const QString& report);

    ExplainedRunPtr run_;
    LatestJob* job_ = new LatestJob(this);
    QComboBox* choice_ = new DropDown(this);
    QComboBox* unit_ = new DropDown(this);
    QComboBox* measure_ = new DropDown(this);
    QStackedWidget* bars_ = new QStackedWidget(this);  ///< The filter and row count of each page.
    QStackedWidget* pages_ = new QStackedWidget(this);
    StepsModel* model_;  ///< Model of `table_`.
    ReportView* table_;
    RankLens* lens_ = new RankLens;
    std::vector<ReportPanel*> lateness_;
};

}  // namespace lanescope::views
