// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

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
    void draw() override;
    bool plotEvent(QEvent* event) override;

  private:
    void setUpAxes();
    void addSide(const compare::StepBars::Run& run, double offset, const QColor& color);
    void markOutliers(const compare::StepBars::Run& run, double offset);
    void markChosen();
    QString legendOf(const QString& side, const compare::StepBars::Run& run, int detail) const;
    void addLegend();
    QString tipAt(int step) const;

    compare::StepBars bars_;  // baseline and candidate; empty for none
    int chosen_ = -1;
    double nsPerUnit_ = 1;
};

/// From the baseline's mean step to the candidate's: a column per run and, between them, one for each of the largest
/// changes of parts, largest first, and one for the rest. A click or Left and Right choose a part; Esc undoes the
/// choice.
class WaterfallChart : public PlotWidget {
    Q_OBJECT
  public:
    explicit WaterfallChart(QWidget* parent = nullptr);

    /// Null clears the chart.
    void setPair(const compare::WorkerComparison* pair);
    /// Marks a part; nullopt marks none.
    void setChosen(std::optional<analysis::StepPart> part);
    std::optional<analysis::StepPart> chosen() const { return chosen_; }
    /// Returns the parts that have their own column, from left to right.
    std::vector<analysis::StepPart> parts() const;

    QSize sizeHint() const override { return {520, 190}; }
    QSize minimumSizeHint() const override { return {320, std::max(110, 7 * fontMetrics().height())}; }

  signals:
    /// Emitted when the user chose this part; nullopt if it was chosen already.
    void partChosen(std::optional<lanescope::analysis::StepPart> part);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void draw() override;
    bool plotEvent(QEvent* event) override;

  private:
    void chooseBars();
    void setUpAxes();
    /// Returns the title of the vertical axis, in lines of at most `maxLinePx` pixels.
    QString axisTitle(const char* unit, double maxLinePx) const;
    /// Returns the number of columns: the baseline's, the bars, the candidate's.
    size_t columnCount() const { return bars_ ? bars_->bars.size() + 2 : 0; }
    void addRun(size_t column, int64_t ns, const QColor& color);
    /// Returns true if the axis begins above 0.
    bool isTruncated() const;
    QString beginText() const;
    void addTruncationMark(size_t column);
    void addBar(size_t column, const compare::WaterfallBars::Bar& bar);
    /// Adds the 95 % confidence interval of the part with several runs per side; dotted if the change is not certain.
    void addInterval(size_t column, const compare::WaterfallBars::Bar& bar);
    void addRectangle(size_t column, double bottomNs, double topNs, const QColor& color, bool isChosen, bool isBold,
                      const QString& text);
    void choose(std::optional<analysis::StepPart> part);
    std::optional<analysis::StepPart> partAt(QPoint position) const;
    QString description() const;

    std::optional<compare::WaterfallBars> bars_;
    std::optional<compare::WorkerComparison> pair_;
    std::optional<analysis::StepPart> chosen_;
    double nsPerUnit_ = 1;
};

}  // namespace lanescope::views
