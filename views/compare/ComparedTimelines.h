// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "model/compare/RunComparison.h"
#include "model/trace/Trace.h"
#include "views/details/WarningPanel.h"
#include "views/theme/PaintedWidget.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::views {

/// One side of a comparison: its timeline and, if the trace has warnings, a bar with them above it.
/// The candidate's timeline is not visible: the baseline's timeline shows its tracks.
class CompareSide : public QWidget {
    Q_OBJECT
  public:
    enum class Role { Baseline, Candidate };

    /// `range` is shared with the other side and not owned.
    CompareSide(Role role, VisibleRange* range, QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme);
    TimelineView& timeline() const { return *timeline_; }

    /// Converts trace time to the time axis that both sides share.
    TimeRange toAxis(TimeRange traceRange) const;
    TimeRange toTrace(TimeRange axisRange) const;

  private:
    void showWarnings();

    Role role_;
    Theme theme_ = Theme::light();
    WarningBar* healthBar_ = new WarningBar(this);
    TimelineView* timeline_ = new TimelineView(this);
};

/// A strip on the shared time axis: a column per step with the time that the candidate lost or
/// gained, a line of the accumulated loss above, and the numbers below. A click goes to a step.
class DifferenceLane : public PaintedWidget {
    Q_OBJECT
  public:
    /// `range` is not owned and outlives this.
    explicit DifferenceLane(VisibleRange& range, QWidget* parent = nullptr);

    /// `originNs` is the candidate's time at 0 of the shared axis.
    void setSteps(std::vector<compare::StepDifference> steps, int64_t originNs);
    /// Returns the index of the step at this pixel, or -1.
    int stepAt(int x) const;
    int preferredHeight() const;
    QRect numbersArea() const;
    struct Number {
        QRectF place;
        QString text;
    };
    /// Returns the shown numbers, the greatest differences first: as many as fit, of steps wide
    /// enough for a number, and none far below the greatest. O(n log n) in the steps.
    std::vector<Number> numbers() const;

  signals:
    void preferredHeightChanged(int height);
    void stepChosen(int step);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;
    void changeEvent(QEvent* event) override;

  private:
    void paintColumns(QPainter& painter) const;
    void paintNumbers(QPainter& painter) const;
    void paintLine(QPainter& painter) const;
    /// Returns the y of a share of the greatest; 0 is neither lost nor gained.
    double yOf(double share) const;
    double toX(int64_t timeNs) const;

    VisibleRange& range_;
    std::vector<compare::StepDifference> steps_;
    int64_t originNs_ = 0;
    int64_t maxLostNs_ = 1;
    int64_t maxAccumulatedNs_ = 1;
    double maxShare_ = 1, minShare_ = 0;  ///< The drawn shares.
};

}  // namespace lanescope::views
