// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace lanescope::capture {

/// A source of values that are read repeatedly, on one thread.
class Sampler {
  public:
    virtual ~Sampler() = default;
    virtual const char* source() const = 0;
    virtual const char* title() const = 0;
    /// Finds and announces the readable values. Returns false if there are none; the reason is then a note in the log.
    virtual bool begin() = 0;
    /// Reads once. Returns false if there will be nothing more.
    virtual bool sample() = 0;
    /// Returns the time of the next `sample`, CLOCK_MONOTONIC; a past time means the next turn. By
    /// default every turn of the thread.
    virtual int64_t dueNs() const { return waitForTurn; }
    static constexpr int64_t waitForTurn = -1;
    /// Reads the counters for the begin or end of a chosen range. Skips slow ones once
    /// `isWantedElsewhere` returns true, because another event waits. Returns the age, in ns, of
    /// the oldest value that was recent enough not to be read again.
    virtual int64_t sampleTime(const std::function<bool()>& isWantedElsewhere) {
        static_cast<void>(isWantedElsewhere);
        return 0;
    }
    /// Returns the total processor time of `sample` on other threads.
    virtual int64_t elsewhereCpuNs() const { return 0; }
    /// Called after the last reading, if the thread ends normally.
    virtual void end() {}
    /// Returns the maximum delay of a wake-up, so that the kernel wakes up once for several threads.
    virtual int64_t slackNs() const { return 1'000'000; }
};

}  // namespace lanescope::capture
