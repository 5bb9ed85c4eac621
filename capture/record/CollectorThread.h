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

/// Thread that polls a collector four times per second until it is stopped. The collector belongs
/// to that thread until then. The thread takes no signals. If no thread can be started, the logs
/// are read when the program has ended.
class CollectorThread {
  public:
    /// Additional work on the thread.
    struct Duties {
        std::function<void()> first;      ///< Before the first poll.
        std::function<void()> afterPoll;  ///< After each poll.
    };
    CollectorThread(Collector& collector, Duties duties);
    CollectorThread(const CollectorThread&) = delete;
    CollectorThread& operator=(const CollectorThread&) = delete;
    ~CollectorThread();

    /// Ends the thread. May be called again.
    void stop();

  private:
    void run();

    Collector& collector_;
    const Duties duties_;
    std::mutex mutex_;
    log::MonotonicCondition wake_;
    bool isStopping_ = false;
    std::thread thread_;
};

/// Detector of the end of the last recording window: by the clock for an interval of time, else by
/// the windows in the processes' logs.
class EndOfWindows {
  public:
    /// `startRealtimeNs` is the time from which delays count.
    EndOfWindows(const agent::WindowOptions& windows, int64_t startRealtimeNs);

    /// Returns true once every recorded process has closed its last window and no process has begun
    /// one for a second, in which slightly slower ranks appear. Call it periodically.
    bool isReached(const Collector& collector, int64_t nowRealtimeNs);

  private:
    bool haveAllEnded(const Collector& collector) const;

    std::optional<int64_t> count_;
    std::optional<int64_t> endRealtimeNs_;
    std::optional<int64_t> allEndedSinceNs_;
};

}  // namespace lanescope::capture
