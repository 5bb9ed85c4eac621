// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QString>
#include <QWidget>
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/explain/StepGrid.h"
#include "model/format/TimeRange.h"
#include "views/explain/ExplainJob.h"
#include "views/theme/PaintedWidget.h"

namespace lanescope::views {

/// Returns a tool tip: `heading`, the parts of a time, longest first, each with a swatch of its colour, then `notes`.
/// The lines may contain names of the trace.
QString partsTip(const QStringList& heading, const analysis::StepParts& parts, const Theme& theme,
                 const QStringList& notes = {});

/// Returns "+4.80 ms vs. median: +4.70 ms waiting for launches"; without the part if the step is as long as the median.
QString excessText(const analysis::RunSummary& run, explain::StepPlace place);

/// The legend of all places that show parts of a step: a stacked bar and the parts, longest first, with their colours.
/// Parts that do not fit are counted; the tool tip has all of them.
class PartsLegend : public PaintedWidget {
    Q_OBJECT
  public:
    explicit PartsLegend(QWidget* parent = nullptr);

    /// Shows the parts of a time; `note` is shown at the end. Empty parts show nothing.
    void setParts(const QString& title, const analysis::StepParts& parts, const QString& note = {});
    bool hasContent() const { return parts_.sum() > 0; }

    QString title() const { return title_; }
    QString note() const { return note_; }
    QRect barArea() const;

    QSize sizeHint() const override { return {600, fontMetrics().height() + 6}; }
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;

  private:
    /// An entry of the legend; its place is relative to the end of the bar.
    struct Entry {
        analysis::StepPart part = analysis::StepPart::Compute;
        QString text;
        int left = 0;
    };
    std::vector<Entry> entries(int room) const;
    int swatch() const { return fontMetrics().height() * 2 / 3; }
    int noteWidth() const;

    QString title_, note_;
    analysis::StepParts parts_;
};

/// The steps of a run with a row per rank and a column per number, of which one can be chosen.
class StepMap : public PaintedWidget {
    Q_OBJECT
  public:
    using PaintedWidget::PaintedWidget;

    std::optional<explain::StepPlace> chosen() const {
        return chosen_ ? run_->grid.at(chosen_->row, chosen_->column) : std::nullopt;
    }

  signals:
    void stepChosen(lanescope::explain::StepPlace place);

  protected:
    /// A cell of `StepGrid`.
    struct Cell {
        size_t row = 0, column = 0;
    };
    const analysis::StepSummary& stepOf(explain::StepPlace place) const {
        return run_->summary.workers[place.worker].steps[place.step];
    }
    virtual double columnWidth() const = 0;
    /// Returns the number of columns per mark: 1, or as many as share a pixel.
    size_t columnsPerMark() const { return std::max<size_t>(1, static_cast<size_t>(std::ceil(1 / columnWidth()))); }
    /// Returns the longest of the steps that share a mark with this one.
    std::optional<explain::StepPlace> longestAt(size_t row, size_t column) const;
    /// Chooses the step of a cell. Skips numbers that this rank has no step for.
    void choose(size_t row, size_t column, int direction);

    ExplainedRunPtr run_;
    std::optional<Cell> chosen_;
};

/// All steps of a run as a row of bars per rank: their height is the duration, their colours are
/// the parts. The slowest and unusual steps are marked. If there are more steps than pixels, a
/// pixel shows the longest of its steps. A click, or the cursor keys, go to a step.
class StepStrip : public StepMap {
    Q_OBJECT
  public:
    explicit StepStrip(QWidget* parent = nullptr);

    /// Shows nothing for null.
    void setRun(ExplainedRunPtr run);
    /// Aligns the bars with the tracks below: `left` is the width of the labels, `right` that of the scroll bar.
    void setMargins(int left, int right);
    /// Limits the height of the rows, unless they would become indistinguishable.
    void setMaxHeight(int height);
    /// Sets the visible range in trace time; its steps are underlined.
    void setVisibleRange(TimeRange range);
    /// Marks a step; nullopt for none.
    void setChosen(std::optional<explain::StepPlace> place);
    bool hasContent() const { return run_ && run_->grid.columnCount() > 1; }

    /// Returns the shown rows: all, or the first ones and that of the rank that the others wait for.
    const std::vector<size_t>& rows() const { return rows_; }
    static constexpr size_t maxRows = 16;
    /// Returns the step at this place; nullopt outside the bars.
    std::optional<explain::StepPlace> stepAt(QPoint position) const;
    /// Returns the rectangle of a step's bar; empty if it is not shown.
    QRect barOf(explain::StepPlace place) const;
    /// Returns true if the program repeats requests instead of steps. Requires a run.
    bool areRequests() const { return run_->summary.kind == StepKind::Request; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent*) override { invalidate(); }
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;
    void themeChanged() override { invalidate(); }

  private:
    void invalidate();
    void renderBars();
    void paintBar(QPainter& painter, Cell cell, const QRectF& area) const;
    void paintMark(QPainter& painter, Cell cell, const QRectF& area) const;
    void paintLabels(QPainter& painter) const;
    void paintView(QPainter& painter) const;
    int rowHeight() const;
    /// Returns the number of label lines that fit if not every row has a label.
    int labelLines() const;
    QRect rowArea(size_t shown) const;
    double columnWidth() const override;
    int64_t highestNs() const;
    QString headingOf(explain::StepPlace place) const;
    QStringList notesOf(explain::StepPlace place) const;
    std::optional<Cell> cellOf(explain::StepPlace place) const;
    bool walk(int key);

    std::vector<size_t> rows_;
    TimeRange visible_;
    std::optional<explain::StepPlace> hovered_;
    int left_ = 0, right_ = 0;
    int maxHeight_ = 96;
    QImage bars_;
    bool isStale_ = true;
};

}  // namespace lanescope::views
