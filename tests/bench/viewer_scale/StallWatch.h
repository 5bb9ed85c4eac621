// SPDX-License-Identifier: Apache-2.0
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
    /// The most CPU time that this thread took without a tick: what of a stall is the program's own
    /// doing, where other programs want the machine too.
    double longestCpuMs() const;

  private:
    void tick();
    void begin();

    QTimer timer_;
    QElapsedTimer sinceTick_;
    qint64 longestNs_ = 0;
    double cpuAtTickMs_ = 0;
    double longestCpuMs_ = 0;
};

}  // namespace lanescope
