// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QWidget>
#include <array>
#include <memory>
#include <optional>

#include "model/lod/SelectionStatistics.h"
#include "model/trace/Trace.h"
#include "views/jobs/LatestJob.h"
#include "views/tables/Panel.h"
#include "views/text/shownText.h"
#include "views/theme/PaintedWidget.h"

namespace lanescope::views {

using NameOccurrencesPtr = std::shared_ptr<const NameOccurrences>;

/// Two charts of all events of one name: durations over trace time on the left, a histogram of durations on the right.
/// A click on either, or Enter, leads to an event; if several share a place, to the longest.
class NameHistogram : public PaintedWidget {
    Q_OBJECT
  public:
    explicit NameHistogram(QWidget* parent = nullptr);

    /// Null for none.
    void setOccurrences(NameOccurrencesPtr occurrences, TimeRange trace);
    // The areas of the two charts.
    QRect timeArea() const;
    QRect durationArea() const;
    const DurationHistogram& histogram() const { return histogram_; }
    /// Returns the event that a click there leads to, or nullopt.
    std::optional<size_t> occurrenceAt(QPoint position) const;
    /// Returns the durations that 50, 90 and 99 % of the events do not exceed.
    const std::array<int64_t, 3>& percentiles() const { return percentiles_; }
    int xOfDuration(int64_t ns) const;

    /// The part of the events that the user dragged over: a range of time, or of durations, which must be at least 0.
    struct Brush {
        bool isOfTime = false;
        int64_t from = 0, until = 0;
    };
    const std::optional<Brush>& brush() const { return brush_; }
    size_t brushedCount() const;
    QSize minimumSizeHint() const override { return {320, 90}; }
    QSize sizeHint() const override { return {900, 200}; }

  signals:
    void eventActivated(lanescope::EventRef event);
    /// Emitted when the user has dragged over a range of time.
    void rangeActivated(lanescope::TimeRange range);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent*) override { rebuild(); }
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void rebuild();
    void paintOverTime(QPainter& painter) const;
    void paintByDuration(QPainter& painter) const;
    int xOf(int64_t timeNs) const;
    int yOf(int64_t durationNs) const;
    QRect barArea(size_t bar, int64_t count) const;
    int64_t timeAt(int x) const;
    int64_t durationAt(int x) const;
    bool isBrushed(size_t occurrence) const;
    void setBrush(std::optional<Brush> brush);
    QString brushText() const;
    void paintPercentiles(QPainter& painter) const;
    void step(int direction);
    QString textOf(size_t occurrence) const;

    NameOccurrencesPtr occurrences_;
    TimeRange trace_;
    DurationHistogram histogram_;
    std::vector<size_t> longestAt_;  ///< The longest by pixel of the time axis; else the count.
    std::optional<size_t> current_;
    std::array<int64_t, 3> percentiles_{};
    std::optional<QPoint> pressed_;
    std::optional<Brush> brush_;
    std::vector<int64_t> brushedCounts_;  ///< By bar.
};

/// All events of a trace with the name of one event: a summary line, and their times and durations.
/// Computed off the GUI thread.
class NamePanel : public Panel {
    Q_OBJECT
  public:
    explicit NamePanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    /// Shows all events with the name of this one. Ignores events that are on no lane.
    void showNameOf(EventRef event);
    void setTheme(const Theme& theme) override { histogram_->setTheme(theme); }
    QString headline() const { return headline_->text(); }
    bool isStale() const override { return job_->isRunning(); }

  private:
    TracePtr trace_;
    LatestJob* job_ = new LatestJob(this);
    QLabel* headline_ = new WrappedLabel(this);
    NameHistogram* histogram_ = new NameHistogram(this);
};

}  // namespace lanescope::views
