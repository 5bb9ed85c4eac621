// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/timeline/RangeSelection.h"
#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The time axis above the canvas. A drag selects a range; a click clears it.
class TimeRuler : public QWidget {
    Q_OBJECT
  public:
    static constexpr int rulerHeight = 28;

    explicit TimeRuler(TimelineState& state, QWidget* parent = nullptr);

    /// Paints the ruler into `size` logical pixels at (0, 0).
    static void paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font);
    QSize sizeHint() const override { return {600, rulerHeight}; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent*) override { state_.range().axis().fit(); }

  private:
    /// Returns the area of the time under the pointer; empty without one.
    QRect hoverPill() const;
    QString hoverText() const;
    void paintHoverTime(QPainter& painter) const;
    void moveHoverTime();
    /// Returns the time under the pointer, or that of a near edge of a slice.
    int64_t timeFor(const QMouseEvent& event) const;
    TimeScale scale() const { return state_.range().scale(width()); }

    TimelineState& state_;
    RangeDrag rangeDrag_;
    int pressedX_ = 0;
    QRect paintedPill_;
    bool isDragging_ = false;
    bool isPressed_ = false;
};

/// The trace name, left of the overview and the ruler.
class TimelineCorner : public QWidget {
    Q_OBJECT
  public:
    explicit TimelineCorner(TimelineState& state, QWidget* parent = nullptr);

    /// Adds the name of a second trace, each with its mark; null for none.
    void setCompanion(TimelineState* companion);

    /// Paints the corner into `size` logical pixels at (0, 0).
    static void paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                      const TimelineState* companion = nullptr);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    TimelineState& state_;
    QPointer<TimelineState> companion_;
};

}  // namespace lanescope::views
