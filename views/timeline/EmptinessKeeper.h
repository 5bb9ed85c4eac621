// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBasicTimer>
#include <QObject>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Leaves out tracks that have nothing in view, and brings them back when they have: whenever the
/// view has come to rest. What is seen at the top stays where it is. GUI thread.
class EmptinessKeeper : public QObject {
    Q_OBJECT

  public:
    explicit EmptinessKeeper(TimelineState& state, QObject* parent = nullptr);

    bool isOn() const { return isOn_; }
    void setOn(bool isOn);
    /// The view is not yet at rest.
    bool isWaiting() const { return timer_.isActive(); }
    /// The view is at rest when it has not moved for this long.
    static constexpr int restMs = 300;

  protected:
    void timerEvent(QTimerEvent* event) override;

  private:
    void look();
    void keep(const std::vector<bool>& leftOut);

    TimelineState& state_;
    bool isOn_ = false;
    QBasicTimer timer_;
};

}  // namespace lanescope::views
