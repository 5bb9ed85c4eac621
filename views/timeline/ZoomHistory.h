// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBasicTimer>
#include <QObject>
#include <functional>
#include <vector>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The history of views. A view is stored when it has come to rest, so that one turn of the wheel
/// or one held key makes one entry. Cleared by a new trace. GUI thread.
class ZoomHistory : public QObject {
    Q_OBJECT
  public:
    /// The view is at rest after this time without movement.
    static constexpr int restMs = 350;

    explicit ZoomHistory(TimelineState& state, QObject* parent = nullptr);

    bool canGoBack() const { return current_ > 0 || isMoving(); }
    /// Goes to the previous view. A pending movement is stored first, so nothing is skipped.
    void back();
    void forward();
    void clear();
    /// Lets `change`, which is not a user action, move the view or add more of the same trace. The
    /// history stays; the current entry becomes the new view.
    void moveWithoutHistory(const std::function<void()>& change);

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
    static constexpr size_t maxPlaces = 200;

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

/// Hides tracks without visible events and shows them again when they have some, each time the view
/// comes to rest. The row under the pointer, else the one at the top, keeps its position: tracks above it stay if
/// scrolling cannot make up for them. GUI thread.
class EmptyTrackHider : public QObject {
    Q_OBJECT
  public:
    explicit EmptyTrackHider(TimelineState& state, QObject* parent = nullptr);

    bool isOn() const { return isOn_; }
    void setOn(bool isOn);
    /// If false, turns it off and ignores `setOn`.
    void setAllowed(bool isAllowed);
    /// Returns true if the view is not yet at rest.
    bool isWaiting() const { return timer_.isActive(); }
    /// The view is at rest after this time without movement.
    static constexpr int restMs = 300;

  protected:
    void timerEvent(QTimerEvent* event) override;

  private:
    void update();
    void apply(std::vector<bool> omitted);
    void keepRowUnderPointer(std::vector<bool>& omitted) const;

    TimelineState& state_;
    bool isOn_ = false;
    bool isAllowed_ = true;
    QBasicTimer timer_;
};

}  // namespace lanescope::views
