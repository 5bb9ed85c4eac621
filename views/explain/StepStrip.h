// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>
#include <optional>

#include "model/format/TimeRange.h"
#include "views/explain/ExplainJob.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// All steps of a run in a row of bars for each worker: as high as they are long, in the colours of
/// their parts; the slowest and the odd ones are marked. Where there are more steps than pixels, a
/// pixel shows the longest of those that it stands for. A click, or the arrow keys, go to a step.
class StepStrip : public QWidget {
    Q_OBJECT
  public:
    explicit StepStrip(QWidget* parent = nullptr);

    /// Shows nothing for null.
    void setRun(ExplainedRunPtr run);
    void setTheme(const Theme& theme);
    /// What stands left of the bars is as wide as the labels of the tracks below, and what is right
    /// of them as their scroll bar.
    void setMargins(int left, int right);
    /// The rows take no more height than that, unless they would be too low to tell apart.
    void setMostHeight(int height);
    /// What the timeline shows, in the trace's own time; those steps are underlined.
    void setVisibleRange(TimeRange range);
    /// Marks a step; nothing for none.
    void setChosen(std::optional<explain::StepPlace> place);
    std::optional<explain::StepPlace> chosen() const;
    bool hasContent() const { return run_ && run_->grid.columnCount() > 1; }

    /// Rows that are shown: all, or the first ones and that of the worker that the others wait for.
    const std::vector<size_t>& rows() const { return rows_; }
    static constexpr size_t mostRows = 16;
    /// The step at this place; nothing beside the bars.
    std::optional<explain::StepPlace> stepAt(QPoint position) const;
    /// Where the bar of a step stands; empty if it is not shown.
    QRect barOf(explain::StepPlace place) const;
    /// What a program that answers does again and again. There must be a run.
    bool areRequests() const;
    QString tipAt(explain::StepPlace place) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

  signals:
    void stepChosen(lanescope::explain::StepPlace place);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    /// A cell of `StepGrid`.
    struct Cell {
        size_t row = 0, column = 0;
    };
    void invalidate();
    void renderBars();
    void paintBar(QPainter& painter, Cell cell, const QRectF& area) const;
    void paintMark(QPainter& painter, Cell cell, const QRectF& area) const;
    void paintLabels(QPainter& painter) const;
    void paintView(QPainter& painter) const;
    int rowHeight() const;
    /// What the labels have room for, if not every row has one.
    int labelLines() const;
    QRect rowArea(size_t shown) const;
    double columnWidth() const;
    /// Columns that share a bar: one, or as many as stand in a pixel.
    size_t columnsPerBar() const;
    int64_t highestNs() const;
    const analysis::StepSummary& stepOf(explain::StepPlace place) const;
    std::optional<Cell> cellOf(explain::StepPlace place) const;
    void choose(size_t row, size_t column, int direction);
    bool walk(int key);

    ExplainedRunPtr run_;
    std::vector<size_t> rows_;
    Theme theme_ = Theme::light();
    TimeRange visible_;
    std::optional<Cell> chosen_;
    std::optional<explain::StepPlace> hovered_;
    int left_ = 0, right_ = 0;
    int mostHeight_ = 96;
    QImage bars_;
    bool isStale_ = true;
};

}  // namespace lanescope::views
