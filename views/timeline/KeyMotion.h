// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBasicTimer>
#include <QElapsedTimer>
#include <QObject>
#include <functional>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

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
