// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <optional>

#include "views/timeline/VisibleRange.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

/// The visible part of a timeline in trace time. Several timelines may share one axis, each with
/// its own origin. GUI thread.
class TimelineRange : public QObject {
    Q_OBJECT

  public:
    explicit TimelineRange(QObject* parent = nullptr);
    ~TimelineRange() override;

    /// Shares `axis` with other timelines; null restores the timeline's own. Not owned.
    void setAxis(VisibleRange* axis);
    /// Times of the axis are trace time minus the origin.
    VisibleRange& axis() const;
    /// Sets the trace time at 0 of the axis.
    void setOrigin(int64_t traceTimeNs);
    int64_t origin() const { return originNs_; }
    /// Sets the range of the trace; empty without one.
    void setExtent(TimeRange range);

    TimeRange visible() const { return axis().range().shifted(originNs_); }
    TimeRange limits() const { return axis().limits().shifted(originNs_); }
    void setVisible(TimeRange range) { axis().setRange(range.shifted(-originNs_)); }
    void zoomAt(int64_t timeNs, double factor) { axis().zoomAt(timeNs - originNs_, factor); }
    /// Shows a range with a margin, in the part of the view that nothing covers.
    void zoomTo(TimeRange range);
    /// Sets the shares of the view, from its left and its right edge, that a panel covers. Nothing moves.
    void setCovered(double leftShare, double rightShare);
    TimeScale scale(double width) const { return {visible(), width, 0}; }

    /// Sets the range to begin with in place of the whole trace.
    void setDefaultRange(std::optional<TimeRange> range) { default_ = range; }
    const std::optional<TimeRange>& defaultRange() const { return default_; }
    void showDefaultRange();

  signals:
    /// Emitted on a change of the visible range, limits or origin.
    void changed();

  private:
    void publishExtent();

    VisibleRange ownAxis_;
    QPointer<VisibleRange> sharedAxis_;
    TimeRange extent_;
    int64_t originNs_ = 0;
    double coveredLeft_ = 0, coveredRight_ = 0;
    std::optional<TimeRange> default_;
};

/// Returns a range around the middle of `range`, which is this share of it.
TimeRange withMargins(TimeRange range, double share);

}  // namespace lanescope::views
