// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBasicTimer>
#include <QElapsedTimer>
#include <QObject>
#include <functional>

#include "views/timeline/TimelineState.h"

class QWheelEvent;

namespace lanescope::views {

/// What every part with a time axis does with the wheel: zoom at the pointer, pan with Shift or a
/// horizontal wheel. `scale` is that part's own axis. Where `scrollsTracks`, it scrolls them if the
/// user wants that (`TimelineState::isWheelScrolling`), and zooms with Ctrl.
void zoomOrPan(const QWheelEvent& event, TimelineState& state, const TimeScale& scale,
               bool scrollsTracks = false);

/// How far the pointer may tremble and still click.
inline constexpr int clickTolerance = 4;

/// Zooms and pans smoothly while W, S, A or D is held: a step at once, then as far as time has
/// passed, whatever the keyboard's repeat rate.
class KeyMotion : public QObject {
    Q_OBJECT

  public:
    /// `anchor` says around which time to zoom.
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

}  // namespace lanescope::views

class QKeyEvent;

namespace lanescope::views {

class TimelineView;

/// Does what a key that is pressed once means to a timeline; see `resources/manual/look.md`.
/// False for keys that mean nothing, among them those that move the view while they are held.
bool handleTimelineKey(TimelineView& view, const QKeyEvent& event);

}  // namespace lanescope::views
