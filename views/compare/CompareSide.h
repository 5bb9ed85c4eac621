// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

class HealthBar;
class TimelineView;
class VisibleRange;

/// One side of a comparison: its timeline and, where the trace is doubtful, its health over it. The
/// candidate's timeline is not on the screen: the baseline's shows its tracks among its own.
class CompareSide : public QWidget {
    Q_OBJECT
  public:
    enum class Role { Baseline, Candidate };

    /// `range` is shared with the other side and not owned.
    CompareSide(Role role, VisibleRange* range, QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme);
    TimelineView& timeline() const { return *timeline_; }
    HealthBar& healthBar() const { return *healthBar_; }

    /// Between the trace's own time and the axis that both sides share.
    TimeRange toAxis(TimeRange traceRange) const;
    TimeRange toTrace(TimeRange axisRange) const;

  private:
    void showHealth();

    Role role_;
    Theme theme_ = Theme::light();
    HealthBar* healthBar_;
    TimelineView* timeline_;
};

}  // namespace lanescope::views
