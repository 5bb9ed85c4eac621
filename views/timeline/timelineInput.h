// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBasicTimer>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QObject>
#include <QWheelEvent>
#include <functional>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Handles the wheel for every part with a time axis: zooms at the pointer, pans with Shift or a
/// horizontal wheel. `scale` is that part's own axis. If `scrollsTracks` and the user's setting
/// (`TimelineOptions::isWheelScrolling`) allow, scrolls the tracks instead and zooms with Ctrl.
void zoomOrPan(const QWheelEvent& event, TimelineState& state, const TimeScale& scale, bool scrollsTracks = false);

/// The max pointer movement of a click.
inline constexpr int clickTolerance = 4;

/// Zooms and pans smoothly while W, S, A or D is held: one step at once, then in proportion to the
/// elapsed time, independent of the key repeat rate.
class KeyMotion : public QObject {
    Q_OBJECT
  public:
    /// `anchor` returns the time to zoom around.
    KeyMotion(TimelineState& state, std::function<int64_t()> anchor, QObject* parent = nullptr);

    static bool handles(int key);
    /// Both return false and do nothing for a key that is not a motion key.
    bool press(int key);
    bool release(int key);
    void stop();

  protected:
    void timerEvent(QTimerEvent* event) override;

  private:
    void move(double seconds);

    TimelineState& state_;
    std::function<int64_t()> anchor_;
    int zoomDirection_ = 0;
    int panDirection_ = 0;
    QBasicTimer timer_;
    QElapsedTimer sinceLastMove_;
};

class TimelineView;

/// Handles a single key press of a timeline; see `resources/manual/look.md`. Returns false for
/// other keys, including those that move the view while held.
bool handleTimelineKey(TimelineView& view, const QKeyEvent& event);

}  // namespace lanescope::views
