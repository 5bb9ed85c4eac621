// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "model/compare/counterDifferences.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

class HealthBar;
class TimelineView;
class VisibleRange;

/// One side of a comparison: its timeline and, where the trace is doubtful, its health over it. The
/// candidate's timeline is not on the screen: the baseline's shows its tracks among its own.
class CompareSide : public QWidget {
    Q_OBJECT
  public:
    enum class Role { Baseline, Candidate };

    /// `range` is shared with the other side and not owned.
    CompareSide(Role role, VisibleRange* range, QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme);
    TimelineView& timeline() const { return *timeline_; }
    HealthBar& healthBar() const { return *healthBar_; }

    /// Between the trace's own time and the axis that both sides share.
    TimeRange toAxis(TimeRange traceRange) const;
    TimeRange toTrace(TimeRange axisRange) const;

  private:
    void showHealth();

    Role role_;
    Theme theme_ = Theme::light();
    HealthBar* healthBar_;
    TimelineView* timeline_;
};

/// A strip on the shared time axis: for each step a column of what the candidate lost or won in it,
/// and over them a line of what was lost since the first; the numbers stand below. A click goes to
/// a step.
class DifferenceLane : public QWidget {
    Q_OBJECT
  public:
    /// `range` is not owned and outlives this.
    explicit DifferenceLane(VisibleRange& range, QWidget* parent = nullptr);

    /// `originNs` is the candidate's time at 0 of the shared axis.
    void setSteps(std::vector<compare::StepDifference> steps, int64_t originNs);
    void setTheme(const Theme& theme);
    /// The place of the step at this pixel, or -1.
    int stepAt(int x) const;
    /// How tall it is to be in its font.
    int preferredHeight() const;
    /// Where the numbers stand, and nothing else.
    QRect numbersArea() const;
    struct Number {
        QRectF place;
        QString text;
    };
    /// What is written there, the greatest differences first: of steps that can be told apart, as
    /// many as have room, and none that is small beside the greatest. O(n log n) in the steps.
    std::vector<Number> numbers() const;

  signals:
    void preferredHeightChanged(int height);
    void stepChosen(int step);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void paintColumns(QPainter& painter) const;
    void paintNumbers(QPainter& painter) const;
    void paintLine(QPainter& painter) const;
    /// Of a share of the greatest; 0 is neither lost nor won.
    double yOf(double share) const;
    double toX(int64_t timeNs) const;

    VisibleRange& range_;
    std::vector<compare::StepDifference> steps_;
    int64_t originNs_ = 0;
    int64_t greatestNs_ = 1;
    int64_t greatestInAllNs_ = 1;
    double most_ = 1, least_ = 0;  ///< Shares that are drawn.
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
