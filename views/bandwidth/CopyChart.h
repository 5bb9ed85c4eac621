// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "model/bandwidth/LinkUse.h"
#include "views/bandwidth/BandwidthAnswer.h"
#include "views/theme/PaintedWidget.h"
#include "views/theme/Theme.h"

class QCPGraph;
class QCPItemRect;
class QMouseEvent;

namespace lanescope::views {

/// A point of a chart of copies, or a piece of a bar: all copies of one group in one place.
struct CopyMark {
    double x = 0, low = 0, high = 0;  ///< In axis units; points have `low == high`.
    double width = 0;                 ///< Width of a bar or of a long copy.
    CopyPoint largest;
    int64_t count = 0;
    int64_t bytes = 0;
};

/// A chart of copies by rate: over time, by size, or as a histogram, with the peaks of the links
/// dashed. A click, or the cursor keys and Enter, choose a copy. A drag in the chart over time
/// selects a range. Each point or bar represents all copies in its place.
class CopyChart : public PlotWidget {
    Q_OBJECT
  public:
    explicit CopyChart(BandwidthChart kind, QWidget* parent = nullptr);

    BandwidthChart kind() const { return kind_; }
    /// Null clears the chart. Ignores answers to questions about another chart.
    void setAnswer(std::shared_ptr<const BandwidthAnswer> answer);
    /// Returns the resolution of the chart at its size.
    CopyGrid grid() const;
    int binCount() const;
    /// Returns the number of points or bars. `markPosition` returns their places in the chart.
    int markCount() const { return static_cast<int>(marks_.size()); }
    QPoint markPosition(int mark) const;
    const CopyPoint& copyOf(int mark) const { return marks_[static_cast<size_t>(mark)].largest; }
    std::optional<int> chosenMark() const { return chosen_; }
    /// Returns the groups in the order of the legend. A click on one hides or shows it. Memsets are hidden at first if
    /// there are copies.
    const std::vector<CopyGroup>& legendGroups() const { return legendGroups_; }
    bool isHidden(const CopyGroup& group) const { return hidden_.contains(group); }
    /// Returns the place of an entry of the legend; empty if there is no room for it.
    QRect legendPlace(size_t entry) const;

    QSize sizeHint() const override { return {480, 240}; }
    QSize minimumSizeHint() const override { return {260, 130}; }

  signals:
    /// Emitted when the user asks to see this copy on the timeline.
    void copyActivated(lanescope::EventRef event);
    void rangeSelected(lanescope::TimeRange range);
    /// Describes the mark under the pointer or the chosen one; empty for none.
    void described(const QString& text);
    void gridChanged();

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void draw() override;
    bool plotEvent(QEvent* event) override;

  private:
    /// Returns the middle of a mark, in units of the axes.
    QPointF centerOf(int mark) const;
    void showChosen();
    void choose(std::optional<int> mark);
    std::optional<int> markAt(QPointF position) const;
    void press(const QMouseEvent& event);
    void move(const QMouseEvent& event);
    void release(const QMouseEvent& event);
    int64_t timeAt(double pixel) const;

    BandwidthChart kind_;
    std::shared_ptr<const BandwidthAnswer> answer_;
    std::vector<CopyMark> marks_;  ///< From left to right.
    std::vector<CopyGroup> legendGroups_;
    std::set<CopyGroup> hidden_;
    bool isFilteredByUser_ = false;
    std::optional<int> chosen_;
    QCPGraph* ring_ = nullptr;
    QCPItemRect* band_ = nullptr;
    std::optional<QPoint> pressedAt_;
    bool isDragging_ = false;
};

}  // namespace lanescope::views
