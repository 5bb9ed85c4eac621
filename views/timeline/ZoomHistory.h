// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBasicTimer>
#include <QObject>
#include <functional>
#include <vector>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The places that were looked at, to go back to. A place is kept when the view has come to rest,
/// so that one turn of the wheel or one held key makes one entry. Cleared by a new trace. GUI
/// thread.
class ZoomHistory : public QObject {
    Q_OBJECT

  public:
    /// The view is at rest when it has not moved for this long.
    static constexpr int restMs = 350;

    explicit ZoomHistory(TimelineState& state, QObject* parent = nullptr);

    bool canGoBack() const { return current_ > 0 || isMoving(); }
    bool canGoForward() const { return current_ + 1 < places_.size() && !isMoving(); }
    /// To the place before. What is still in motion comes to rest first, so nothing is skipped.
    void back();
    void forward();
    void clear();
    /// Lets `change`, which the user did not ask for, move the view or bring more of the same
    /// trace. The places that were looked at stay; the current one is where the view comes to.
    void moveAlong(const std::function<void()>& change);

  signals:
    void changed();

  protected:
    void timerEvent(QTimerEvent* event) override;

  private:
    struct Place {
        TimeRange range;  ///< On the shared axis.
        bool isWhole = false;
        int scrollY = 0;
    };
    static constexpr size_t mostPlaces = 200;

    Place here() const;
    bool isMoving() const;
    void startToMove();
    void comeToRest();
    void goTo(size_t place);

    TimelineState& state_;
    std::vector<Place> places_;  // never empty
    size_t current_ = 0;
    bool isQuiet_ = false;
    QBasicTimer timer_;
};

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
