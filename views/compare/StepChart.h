// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>

#include "model/compare/ComparisonView.h"
#include "views/theme/PaintedWidget.h"

namespace lanescope::views {

/// The duration of each step in both runs, side by side, with the medians as lines and outlier
/// steps marked. A click on a step, or the cursor keys, go to it.
class StepChart : public PlotWidget {
    Q_OBJECT
  public:
    explicit StepChart(QWidget* parent = nullptr);

    void setSteps(const compare::StepBarsOf& baseline, const compare::StepBarsOf& candidate);
    /// Marks a step by its index among the compared ones; -1 for none.
    void setChosen(int step);
    int chosen() const { return chosen_; }
    int stepCount() const { return int(bars_.stepCount); }

    QSize sizeHint() const override { return {520, 190}; }
    QSize minimumSizeHint() const override { return {320, std::max(110, 7 * fontMetrics().height())}; }

  signals:
    void stepChosen(int step);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void rebuild() override;
    bool plotEvent(QEvent* event) override;

  private:
    void setUpAxes();
    void addSide(const compare::StepBars::Run& run, double offset, const QColor& color);
    void markOutliers(const compare::StepBars::Run& run, double offset);
    void markChosen();
    QString legendOf(const QString& side, const compare::StepBars::Run& run, int detail) const;
    void addLegend();
    QString tipAt(int step) const;

    compare::StepBars bars_;  // of the baseline and the candidate; empty for none
    int chosen_ = -1;
    double nsPerUnit_ = 1;
};

}  // namespace lanescope::views
