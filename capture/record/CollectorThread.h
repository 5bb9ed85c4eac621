// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <thread>

#include "capture/collector/Collector.h"
#include "capture/log/MonotonicCondition.h"

namespace lanescope::capture {

/// Polls a collector on a thread of its own, four times a second, until it is stopped. The
/// collector belongs to that thread until then. The thread takes no signals.
class CollectorThread {
  public:
    /// What else is done on the thread.
    struct Duties {
        std::function<void()> first;      ///< Before the first poll.
        std::function<void()> afterPoll;  ///< After each.
    };
    CollectorThread(Collector& collector, Duties duties);
    CollectorThread(const CollectorThread&) = delete;
    CollectorThread& operator=(const CollectorThread&) = delete;
    ~CollectorThread();

    /// Ends the thread; returns the first failure of polling, if any, once. May be called again.
    Result<void> stop();

  private:
    void run();
    void giveUp();

    Collector& collector_;
    const Duties duties_;
    std::mutex mutex_;
    log::MonotonicCondition wake_;
    bool isStopping_ = false;
    Result<void> result_;
    // Made while there is memory for it.
    Result<void> outOfMemory_ = fail("No memory was left to read the logs while the program ran.");
    std::thread thread_;
};

}  // namespace lanescope::capture
