#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "model/compare/RunComparison.h"
#include "views/theme/Theme.h"

class QCustomPlot;
class QMouseEvent;

namespace lanescope {

/// From the baseline's mean step to the candidate's: a column for each run and between them one for
/// every part of the step that changed, weightiest first. A click, or the arrow keys and Enter,
/// choose a part.
class WaterfallChart : public QWidget {
    Q_OBJECT
  public:
    explicit WaterfallChart(QWidget* parent = nullptr);

    /// Null for nothing.
    void setPair(const WorkerComparison* pair);
    void setTheme(const Theme& theme);
    /// The part that is marked; nothing marks none.
    void setChosen(std::optional<StepPart> part);
    std::optional<StepPart> chosen() const { return chosen_; }
    /// The parts that have a column of their own, from left to right.
    std::vector<StepPart> parts() const;
    QCustomPlot& plot() const { return *plot_; }

    QSize sizeHint() const override { return {520, 190}; }
    QSize minimumSizeHint() const override { return {320, 110}; }

  signals:
    /// The user chose this part; chosen once more, nothing is.
    void partChosen(std::optional<lanescope::StepPart> part);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    struct Column {
        QString label;
        std::optional<StepPart> part;  // none for the runs and for what is too small
        int64_t fromNs = 0;
        int64_t toNs = 0;
        bool isRun = false;
        bool isCandidate = false;
    };
    void rebuild();
    void setColumns();
    void setUpAxes();
    void addColumn(size_t index);
    QColor colorOf(const Column& column) const;
    void choose(std::optional<StepPart> part);
    std::optional<size_t> columnAt(QPoint position) const;
    QString description() const;

    std::optional<WorkerComparison> pair_;
    std::vector<Column> columns_;
    std::optional<StepPart> chosen_;
    Theme theme_ = Theme::light();
    double nsPerUnit_ = 1;
    QCustomPlot* plot_;
};

}  // namespace lanescope
