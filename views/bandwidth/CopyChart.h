// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "views/bandwidth/plotCopies.h"
#include "views/theme/Theme.h"

class QCPGraph;
class QCPItemRect;
class QCustomPlot;
class QMouseEvent;

namespace lanescope::views {

/// A chart of copies by their rates: over time, by size, or how many of each rate, with the peaks
/// of the links dashed. A click, or the arrow keys and Enter, choose a copy; in the chart over time
/// a drag selects a range. Each point or bar stands for all copies in its place.
class CopyChart : public QWidget {
    Q_OBJECT
  public:
    explicit CopyChart(BandwidthChart kind, QWidget* parent = nullptr);

    BandwidthChart kind() const { return kind_; }
    /// Null for nothing. Answers to questions about another chart leave it as it is.
    void setAnswer(std::shared_ptr<const BandwidthAnswer> answer);
    void setTheme(const Theme& theme);
    /// What the chart can tell apart at its size.
    CopyGrid grid() const;
    int binCount() const;
    QCustomPlot& plot() const { return *plot_; }
    /// How many points or bars there are, and where one stands in the chart.
    int markCount() const { return static_cast<int>(marks_.size()); }
    QPoint markPosition(int mark) const;
    const CopyPoint& copyOf(int mark) const { return marks_[static_cast<size_t>(mark)].largest; }
    std::optional<int> chosenMark() const { return chosen_; }

    QSize sizeHint() const override { return {480, 240}; }
    QSize minimumSizeHint() const override { return {260, 130}; }

  signals:
    /// The user wants to see this copy on the timeline.
    void copyActivated(lanescope::EventRef event);
    void rangeSelected(lanescope::TimeRange range);
    /// What stands under the pointer, or is chosen; empty for nothing.
    void described(const QString& text);
    /// The chart can tell more or fewer places apart than it could.
    void gridChanged();

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void rebuild();
    void showChosen();
    void choose(std::optional<int> mark);
    std::optional<int> markAt(QPointF position) const;
    void press(const QMouseEvent& event);
    void move(const QMouseEvent& event);
    void release(const QMouseEvent& event);
    int64_t timeAt(double pixel) const;

    BandwidthChart kind_;
    std::shared_ptr<const BandwidthAnswer> answer_;
    Theme theme_ = Theme::light();
    QCustomPlot* plot_;
    std::vector<CopyMark> marks_;  ///< From left to right.
    std::optional<int> chosen_;
    QCPGraph* ring_ = nullptr;
    QCPItemRect* band_ = nullptr;
    std::optional<QPoint> pressedAt_;
    bool isDragging_ = false;
};

}  // namespace lanescope::views
