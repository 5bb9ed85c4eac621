// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/timeline/OverviewPainter.h"
#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The strip at the top that shows where one is. Its window can be dragged, at its edges too.
class OverviewStrip : public QWidget {
    Q_OBJECT

  public:
    static constexpr int stripHeight = 44;

    explicit OverviewStrip(TimelineState& state, QWidget* parent = nullptr);
    QSize sizeHint() const override { return {600, stripHeight}; }

    /// Shows the GPUs of a second trace below those of its own; null for none.
    void setCompanion(TimelineState* companion);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

  private:
    enum class Grip { None, Window, Start, End };
    TimeScale scale() const { return {state_.limits(), double(width()), 0}; }
    Grip gripAt(double x) const;
    void dragTo(double x);
    void forgetCharts();
    void updateCharts();

    TimelineState& state_;
    QPointer<TimelineState> companion_;
    OverviewPainter painter_;
    QImage charts_;          ///< Null when they are to be painted anew,
    TimeRange chartsRange_;  ///< as they are when this is no longer what they show.
    TimeRange companionRange_;
    Grip grip_ = Grip::None;
    TimeRange pressedRange_;
    double pressedX_ = 0;
};

}  // namespace lanescope::views
