// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <vector>

#include "model/format/TimeRange.h"

namespace lanescope::views {

/// The stretch of time that is on the screen, and the only place that clamps it. Several timelines
/// may share one, each with its own time origin, and then zoom and pan together. Times are
/// nanoseconds on the shared axis: the trace's own time less the view's origin. GUI thread.
class VisibleRange : public QObject {
    Q_OBJECT

  public:
    /// Nothing shorter than this is ever visible.
    static constexpr int64_t minimumNs = 10;

    explicit VisibleRange(QObject* parent = nullptr);

    TimeRange range() const { return range_; }
    /// What may be visited: all extents and a slight margin.
    TimeRange limits() const { return limits_; }
    bool isFitted() const { return range_ == limits_; }

    /// Shows `range`, moved and cut to the limits, widened to `minimumNs`.
    void setRange(TimeRange range);
    /// A factor above 1 zooms in. `timeNs` stays where it is on the screen unless a limit is hit.
    void zoomAt(int64_t timeNs, double factor);
    /// Positive: towards later. Stops at the limits without changing the duration.
    void pan(int64_t byNs);
    /// Shows everything there is.
    void fit();

    /// Says what one of the sharing views has to show. If everything was visible before, everything
    /// is afterwards. An empty extent withdraws it, as does destroying `owner`.
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
    TimeRange limits_{0, minimumNs};
    TimeRange range_{0, minimumNs};
};

}  // namespace lanescope::views
