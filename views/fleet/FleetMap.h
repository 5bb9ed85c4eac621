// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/fleet/FleetReport.h"
#include "views/theme/PaintedWidget.h"

namespace lanescope::views {

/// A rank and a step, by row and column of the report.
struct FleetCell {
    size_t row = 0, column = 0;
    bool operator==(const FleetCell&) const = default;
};

/// The marked part of a map: some ranks, and a range of steps.
struct FleetSelection {
    std::vector<size_t> rows;  ///< Ascending.
    size_t firstColumn = 0, lastColumn = 0;
    bool isEmpty() const { return rows.empty(); }
    bool operator==(const FleetSelection&) const = default;
};

/// Every rank of a job in every step. On top, the ranks with the greatest losses, one line of text high each. Below,
/// all ranks in the chosen order, as high as there is room: ranks that share a pixel show the strongest. On the right,
/// the total loss of each rank.
///
/// A rubber band, or the cursor keys with Shift, mark ranks and steps; Enter or a double click requests to open them.
class FleetMap : public PaintedWidget {
    Q_OBJECT
  public:
    explicit FleetMap(QWidget* parent = nullptr);

    void setReport(fleet::FleetReportPtr report);
    void setMeasure(fleet::Measure measure);
    void setOrder(fleet::RowOrder order);

    const FleetSelection& selection() const { return selection_; }
    /// Selects cells; skips missing rows and clips the columns.
    void select(FleetSelection selection);

    /// Returns the cell at a place of the widget; of several that share it, the visible one.
    std::optional<FleetCell> cellAt(QPoint position) const;
    /// Returns the rectangle of a cell among all ranks.
    QRectF rectOf(FleetCell cell) const;
    /// Describes a cell in two lines: "rank 517, node064, step 123".
    QString textOf(FleetCell cell) const;
    QColor colorOf(float share) const;
    /// Returns the top ranks by row, worst first.
    const std::vector<size_t>& worst() const { return worst_; }

    QSize sizeHint() const override { return {900, 560}; }
    QSize minimumSizeHint() const override;

  signals:
    void selectionChanged();
    void openRequested();
    /// Describes the cell under the pointer or the keyboard cursor; empty outside all cells.
    void pointed(const QString& text);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override { emit pointed({}); }
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;
    void themeChanged() override { refresh(); }

  private:
    /// Rows drawn one below the other.
    struct Band {
        std::vector<size_t> rows;  ///< Indices into the report.
        QRect area;
    };
    bool isEmpty() const { return !report_ || report_->ranks.empty() || report_->steps.empty(); }
    void arrange();
    void refresh();
    Band band(bool isWorst) const;
    QImage imageOf(const Band& band) const;
    float shareOf(FleetCell cell) const { return scale_.shareOf(report_->valueOf(measure_, cell.row, cell.column)); }
    /// Returns the strongest of the cells that share a pixel, which is one of `pixels`.
    FleetCell strongestAt(const Band& band, QPoint pixel, QSize pixels) const;
    std::optional<FleetCell> cellIn(const Band& band, QPoint position) const;
    QRectF rectIn(const Band& band, size_t place, size_t first, size_t last) const;
    void selectFromDrag(QPoint position);
    void moveCursor(int rows, int columns, bool extends);
    QString labelOf(size_t row) const;

    void paintWorst(QPainter& painter) const;
    void paintLabels(QPainter& painter) const;
    void paintLosses(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void paintSelection(QPainter& painter, const Band& band) const;

    fleet::FleetReportPtr report_;
    fleet::Measure measure_ = fleet::Measure::Late;
    fleet::RowOrder order_ = fleet::RowOrder::Machine;
    fleet::MapScale scale_;
    fleet::OrderedRows ordered_;
    std::vector<size_t> worst_, named_;  ///< Rows; `named_` are those in findings.
    std::vector<size_t> places_;         ///< By row, the place in the order.
    FleetSelection selection_;
    std::optional<QPoint> dragFrom_;
    std::optional<QRect> rubber_;
    FleetCell cursor_, anchor_;
    mutable QImage all_, few_;  ///< Pictures of both bands; null until painted.
    int labelWidth_ = 0;
};

}  // namespace lanescope::views
