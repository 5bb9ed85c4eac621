// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "model/analysis/rooflineRows.h"
#include "model/text/ReportTable.h"
#include "views/tables/Panel.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/PaintedWidget.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

using RooflinePtr = std::shared_ptr<const analysis::Roofline>;

/// A roofline chart of one GPU with logarithmic axes: operations per second over operations per byte. Roofs are lines,
/// dashed if of the data sheet; each operator is a dot whose area is its time. A click on a dot, or Enter, activates
/// it.
class RooflineChart : public PaintedWidget {
    Q_OBJECT
  public:
    explicit RooflineChart(QWidget* parent = nullptr);

    /// Null for none. `gpu` is an index into `Trace::gpus`.
    void setRoofline(RooflinePtr roofline, uint32_t gpu);

    QRect plotArea() const;
    /// Returns the centre of the dot of a row of `Roofline::rows`; nullopt if it has none.
    std::optional<QPointF> placeOf(size_t row) const;
    /// Returns the row whose dot is there; the smallest of several.
    std::optional<size_t> rowAt(QPointF position) const;
    void setCurrent(std::optional<size_t> row);
    std::optional<size_t> current() const { return current_; }

    QSize minimumSizeHint() const override { return {280, 140}; }
    QSize sizeHint() const override { return {520, 260}; }

  signals:
    void rowActivated(size_t row);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    /// Decades that the axes show.
    struct Bounds {
        double left = -1, right = 3, bottom = 9, top = 15;
    };
    void fitBounds();
    const analysis::GpuRoofs* roofs() const;
    bool isDrawn(const analysis::RooflineRow& row) const;
    double radiusOf(const analysis::RooflineRow& row) const;
    QPointF pointAt(double intensity, double perSecond) const;
    QColor colorOf(OperatorKind kind) const { return theme_.colorOfNumber(static_cast<uint32_t>(kind)); }
    QString textOf(const analysis::RooflineRow& row) const;
    void paintGrid(QPainter& painter) const;
    void paintRoofs(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void step(int direction);

    RooflinePtr roofline_;
    uint32_t gpu_ = 0;
    Bounds bounds_;
    int64_t longestNs_ = 1;
    std::optional<size_t> current_;
};

/// Operators with known shapes as a roofline chart and as a table. Computed off the GUI thread.
class RooflinePanel : public ComputedPanel {
    Q_OBJECT
  public:
    explicit RooflinePanel(QWidget* parent = nullptr);

    void setRange(std::optional<TimeRange> range) override;
    void setTheme(const Theme& theme) override { chart_->setTheme(theme); }
    ReportView* table() const override { return view_; }

  private:
    void refresh(LatestJob::Older older) override;
    void showRoofline(RooflinePtr roofline, ReportTable table);
    void activate(size_t row);

    RooflineChart* chart_ = new RooflineChart(this);
    ReportView* view_ = new ReportView(this);
    QComboBox* gpu_ = new DropDown(this);
    QLabel* notes_ = new PlainLabel(this);
    RooflinePtr roofline_;
};

}  // namespace lanescope::views
