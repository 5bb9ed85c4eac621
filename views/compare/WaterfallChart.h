// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/compare/chartBars.h"
#include "views/theme/Theme.h"

class QCustomPlot;

namespace lanescope::views {

/// From the baseline's mean step to the candidate's: a column for each run and between them one for
/// every part of the step that changed, weightiest first. A click, or the arrow keys and Enter,
/// choose a part.
class WaterfallChart : public QWidget {
    Q_OBJECT
  public:
    explicit WaterfallChart(QWidget* parent = nullptr);

    /// Null for nothing.
    void setPair(const compare::WorkerComparison* pair);
    void setTheme(const Theme& theme);
    /// The part that is marked; nothing marks none.
    void setChosen(std::optional<analysis::StepPart> part);
    std::optional<analysis::StepPart> chosen() const { return chosen_; }
    /// The parts that have a column of their own, from left to right.
    std::vector<analysis::StepPart> parts() const;
    QCustomPlot& plot() const { return *plot_; }

    QSize sizeHint() const override { return {520, 190}; }
    QSize minimumSizeHint() const override {
        return {320, std::max(110, 7 * fontMetrics().height())};
    }

  signals:
    /// The user chose this part; chosen once more, nothing is.
    void partChosen(std::optional<lanescope::analysis::StepPart> part);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void rebuild();
    void chooseBars();
    void setUpAxes();
    /// What the vertical axis is called, in lines of at most so many pixels.
    QString axisTitle(const char* unit, double longestPx) const;
    QFont boldFont() const;
    /// The baseline's column, the bars', the candidate's.
    size_t columnCount() const;
    void addRun(size_t column, int64_t ns, const QColor& color);
    /// Whether the axis begins above 0, where, and the mark of that across the column of a run.
    bool isCut() const;
    QString beginText() const;
    void addCut(size_t column);
    void addBar(size_t column, const compare::WaterfallBars::Bar& bar);
    /// Of several runs a side, the 95 % confidence interval of the part, dotted if not certain.
    void addInterval(size_t column, const compare::WaterfallBars::Bar& bar);
    void addRectangle(size_t column, double bottomNs, double topNs, const QColor& color,
                      bool isChosen, bool isBold, const std::string& text);
    void choose(std::optional<analysis::StepPart> part);
    /// The part under the pointer.
    std::optional<analysis::StepPart> partAt(QPoint position) const;
    QString description() const;

    std::optional<compare::WaterfallBars> bars_;
    std::optional<compare::WorkerComparison> pair_;
    std::optional<analysis::StepPart> chosen_;
    Theme theme_ = Theme::light();
    double nsPerUnit_ = 1;
    QCustomPlot* plot_;
};

}  // namespace lanescope::views
