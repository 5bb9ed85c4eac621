// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QTimer>

namespace lanescope {

/// Watches the event loop of its own thread: a timer that should tick every few milliseconds, and
/// the time without ticks.
class StallWatch {
  public:
    StallWatch();

    void restart();
    /// Returns the longest time without a tick so far.
    double maxStallMs() const;
    /// Returns the maximum CPU time of this thread without a tick: the program's own part of a stall on a busy machine.
    double maxStallCpuMs() const;

  private:
    void tick();
    void begin();

    QTimer timer_;
    QElapsedTimer sinceTick_;
    qint64 longestNs_ = 0;
    double cpuAtTickMs_ = 0, maxStallCpuMs_ = 0;
};

}  // namespace lanescope
