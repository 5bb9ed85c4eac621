#pragma once

#include <QWidget>
#include <vector>

#include "model/compare/stepDifferences.h"
#include "views/theme/Theme.h"

namespace lanescope {

class VisibleRange;

/// A strip on the shared time axis: for each step a column of what the candidate lost or won in it,
/// and over them a line of what was lost since the first. A click goes to a step.
class DifferenceLane : public QWidget {
    Q_OBJECT
  public:
    static constexpr int laneHeight = 46;

    /// `range` is not owned and outlives this.
    explicit DifferenceLane(VisibleRange& range, QWidget* parent = nullptr);

    /// `originNs` is the candidate's time at 0 of the shared axis.
    void setSteps(std::vector<StepDifference> steps, int64_t originNs);
    void setTheme(const Theme& theme);
    /// The place of the step at this pixel, or -1.
    int stepAt(int x) const;

  signals:
    void stepChosen(int step);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void paintColumns(QPainter& painter, double middle, double reach) const;
    void paintLine(QPainter& painter, double middle, double reach) const;
    double toX(int64_t timeNs) const;

    VisibleRange& range_;
    std::vector<StepDifference> steps_;
    int64_t originNs_ = 0;
    int64_t greatestNs_ = 1;
    int64_t greatestInAllNs_ = 1;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope
