// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lanescope::capture {

/// Something that is read again and again, on one thread.
class Sampler {
  public:
    virtual ~Sampler() = default;
    /// "nvml": the `source` of its counters.
    virtual const char* source() const = 0;
    /// For people: "NVML".
    virtual const char* title() const = 0;
    /// Looks for what can be read and announces it. False if there is nothing; what keeps it from
    /// being there is then a note in the log.
    virtual bool begin() = 0;
    /// Reads once. False if there will be nothing more.
    virtual bool sample() = 0;
    /// When `sample` should be called again, CLOCK_MONOTONIC; nothing that has passed waits for
    /// the next turn. By default with each turn of the thread.
    virtual int64_t dueNs() const { return waitForTurn; }
    static constexpr int64_t waitForTurn = -1;
    /// Reads what belongs to the moment at which a chosen range began or ended. What takes long is
    /// left out once `isWantedElsewhere` says that another moment waits. How many ns ago the oldest
    /// value was read that was new enough not to be read again.
    virtual int64_t sampleMoment(const std::function<bool()>& isWantedElsewhere) {
        static_cast<void>(isWantedElsewhere);
        return 0;
    }
    /// Processor time that `sample` has taken on other threads, all in all.
    virtual int64_t elsewhereCpuNs() const { return 0; }
    /// After the last reading, if the thread ends in good order.
    virtual void end() {}
    /// How much later than asked for the thread may wake up, so that the kernel wakes up once for
    /// several.
    virtual int64_t slackNs() const { return 1'000'000; }
};

}  // namespace lanescope::capture
