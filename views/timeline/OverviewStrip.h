// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QSize>
#include <QWidget>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"
#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The utilization of GPUs and CPU threads per pixel column, in [0, 1]: the mean over the GPUs, and
/// over the threads that call CUDA.
struct OverviewActivity {
    std::vector<float> gpu;
    std::vector<float> cpu;
};

/// Paints the whole trace as two thin activity charts, with the visible part bright: GPUs above and
/// CPUs below, or the GPUs of both traces with a companion. Caches the charts for one width.
class OverviewPainter {
  public:
    void forget() { width_ = -1; }
    void paint(QPainter& painter, const TimelineState& state, QSize size, const TimelineState* companion = nullptr);

    /// Paints the part of `paint` that does not change with view, selection and search.
    void paintCharts(QPainter& painter, const TimelineState& state, QSize size, const TimelineState* companion);
    /// Paints the rest over it.
    static void paintMarks(QPainter& painter, const TimelineState& state, QSize size);

  private:
    void update(const TimelineState& state, int width, const TimelineState* companion);

    OverviewActivity activity_;
    OverviewActivity companionActivity_;
    TimeRange companionRange_;
    int width_ = -1;
    TimeRange range_;
};

/// The strip at the top that shows the visible part of the trace. Its window and edges can be dragged.
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
    void mouseReleaseEvent(QMouseEvent*) override { grip_ = Grip::None; }
    void mouseDoubleClickEvent(QMouseEvent*) override { state_.range().axis().fit(); }

  private:
    enum class Grip { None, Window, Start, End };
    TimeScale scale() const { return {state_.range().limits(), double(width()), 0}; }
    Grip gripAt(double x) const;
    void dragTo(double x);
    void forgetCharts();
    void updateCharts();

    TimelineState& state_;
    QPointer<TimelineState> companion_;
    OverviewPainter painter_;
    QImage charts_;          ///< Null if the charts must be repainted.
    TimeRange chartsRange_;  ///< The charts are repainted if the shown range differs.
    TimeRange companionRange_;
    Grip grip_ = Grip::None;
    TimeRange pressedRange_;
    double pressedX_ = 0;
};

}  // namespace lanescope::views
