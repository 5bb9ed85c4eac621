// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "capture/collector/Collector.h"
#include "capture/log/MonotonicCondition.h"
#include "capture/options/AgentOptions.h"

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

/// Tells when the last window of a recording is over: by the clock for a span of time, else by
/// what the processes say in their logs.
class EndOfWindows {
  public:
    /// `startRealtimeNs` is the moment from which delays count.
    EndOfWindows(const agent::WindowOptions& windows, int64_t startRealtimeNs);

    /// True once every process that recorded has closed its last window, and none has begun one
    /// for a second, in which ranks that are a little behind show up. Call it now and then.
    bool isReached(const Collector& collector, int64_t nowRealtimeNs);

  private:
    bool haveAllEnded(const Collector& collector) const;

    std::optional<int64_t> count_;
    std::optional<int64_t> endRealtimeNs_;
    std::optional<int64_t> allEndedSinceNs_;
};

}  // namespace lanescope::capture
