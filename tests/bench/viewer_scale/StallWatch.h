#pragma once

#include <QElapsedTimer>
#include <QTimer>

namespace lanescope {

/// Watches the event loop of the thread that it lives on: a timer that should tick every few
/// milliseconds, and how long it did not.
class StallWatch {
  public:
    StallWatch();

    /// Forgets what was seen.
    void restart();
    /// The longest time without a tick, up to now.
    double longestMs() const;

  private:
    void tick();

    QTimer timer_;
    QElapsedTimer sinceTick_;
    qint64 longestNs_ = 0;
};

}  // namespace lanescope
