// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/fleet/FleetReport.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// A rank and a step, by their row and column in the report.
struct FleetCell {
    size_t row = 0, column = 0;
    bool operator==(const FleetCell&) const = default;
};

/// What is marked in a map: some ranks, and the steps from one to another.
struct FleetSelection {
    std::vector<size_t> rows;  ///< Ascending.
    size_t firstColumn = 0, lastColumn = 0;
    bool isEmpty() const { return rows.empty(); }
    bool operator==(const FleetSelection&) const = default;
};

/// Every rank of a job in every step. Above stand the ranks that lose most, each as high as a line
/// of text; below all of them, in the order that is chosen, as high as there is room: where several
/// share a pixel the strongest of them shows. At the right is what each loses in all.
///
/// A rubber band marks ranks and steps, as do the arrow keys with Shift; Enter or a double click
/// asks to open them.
class FleetMap : public QWidget {
    Q_OBJECT
  public:
    explicit FleetMap(QWidget* parent = nullptr);

    void setReport(fleet::FleetReportPtr report);
    void setMeasure(fleet::Measure measure);
    void setOrder(fleet::RowOrder order);
    void setTheme(const Theme& theme);

    const FleetSelection& selection() const { return selection_; }
    /// Rows that are not there are left out; columns are cut to those there are.
    void select(FleetSelection selection);

    /// The cell under a place of the widget; of several that share it the one that shows.
    std::optional<FleetCell> cellAt(QPoint position) const;
    /// Where a cell is drawn among all.
    QRectF rectOf(FleetCell cell) const;
    /// Where it is drawn among those that lose most; empty if it is not there.
    QRectF worstRectOf(FleetCell cell) const;
    /// "rank 517, node064, step 123": all that is known of a cell, in two lines.
    QString textOf(FleetCell cell) const;
    QColor colorOf(float share) const;
    /// The ranks above, by row, worst first.
    const std::vector<size_t>& worst() const { return worst_; }

    QSize sizeHint() const override { return {900, 560}; }
    QSize minimumSizeHint() const override;

  signals:
    void selectionChanged();
    void openWanted();
    /// Of the cell under the pointer or the keys; empty away from all.
    void pointed(const QString& text);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    /// Rows that stand under each other.
    struct Band {
        std::vector<size_t> rows;  ///< Of the report.
        QRect area;
    };
    bool isEmpty() const { return !report_ || report_->ranks.empty() || report_->steps.empty(); }
    void arrange();
    void refresh();
    Band band(bool isWorst) const;
    QImage imageOf(const Band& band) const;
    float shareIn(const Band& band, size_t firstRow, size_t endRow, size_t first, size_t end) const;
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
    std::vector<size_t> worst_, named_;  ///< Rows; those that findings name.
    std::vector<size_t> places_;         ///< Of each row in the order.
    Theme theme_ = Theme::light();
    FleetSelection selection_;
    std::optional<QPoint> dragFrom_;
    std::optional<QRect> rubber_;
    FleetCell cursor_, anchor_;
    mutable QImage all_, few_;  ///< Of both bands; null until they are painted.
    int labelWidth_ = 0;
};

}  // namespace lanescope::views
