// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <vector>

#include "model/format/TimeRange.h"

namespace lanescope::views {

/// The visible time range, and the only place that clamps it. Several timelines may share one, each
/// with its own time origin, and then zoom and pan together. Times are nanoseconds on the shared
/// axis: trace time minus the view's origin. GUI thread.
class VisibleRange : public QObject {
    Q_OBJECT

  public:
    /// The min duration of the visible range.
    static constexpr int64_t minVisibleNs = 10;

    explicit VisibleRange(QObject* parent = nullptr);

    TimeRange range() const { return range_; }
    /// Returns the union of all extents with a small margin.
    TimeRange limits() const { return limits_; }
    bool isFitted() const { return range_ == limits_; }

    /// Shows `range`, moved and clipped to the limits, widened to `minVisibleNs`.
    void setRange(TimeRange range);
    /// A factor above 1 zooms in. `timeNs` keeps its place on the screen unless a limit is hit.
    void zoomAt(int64_t timeNs, double factor);
    /// Positive: towards later. Stops at the limits without changing the duration.
    void pan(int64_t byNs);
    /// Shows all extents.
    void fit();

    /// Sets the extent of one of the sharing views. If everything was visible before, everything is
    /// visible afterwards. An empty extent withdraws it, as does the destruction of `owner`.
    void setExtent(const QObject* owner, TimeRange extent);

  signals:
    void changed(lanescope::TimeRange range);
    void limitsChanged(lanescope::TimeRange limits);

  private:
    struct Extent {
        const QObject* owner;
        TimeRange range;
    };
    TimeRange clamped(TimeRange range) const;
    void updateLimits();

    std::vector<Extent> extents_;
    TimeRange limits_{0, minVisibleNs};
    TimeRange range_{0, minVisibleNs};
};

}  // namespace lanescope::views
