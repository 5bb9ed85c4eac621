// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "capture/log/MonotonicCondition.h"
#include "capture/sample/MomentPipe.h"
#include "capture/sample/MomentReading.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope::capture {

/// Runs a sampler on a thread of its own at a steady pace, on turns that all such threads share.
/// What it calls may hang for good: nobody waits for the thread beyond a deadline, and it must then
/// outlive all else, so the process has to be left by `_exit`.
class SamplerThread {
  public:
    /// Processor time that it has used.
    struct Cost {
        double onceSeconds = 0;  ///< To load libraries, look for what is there, and end.
        double momentSeconds = 0;
        double steadySeconds = 0;  ///< All the rest.
    };

    /// `moments` may be null; it wakes the sampler when a chosen range begins or ends.
    SamplerThread(std::unique_ptr<Sampler> sampler, int64_t periodNs, SampleLog& log,
                  MomentPipe* moments);

    /// Asks the thread to end; returns at once.
    void requestStop();
    /// True if it ended before the deadline, CLOCK_MONOTONIC.
    bool waitUntil(int64_t deadlineNs);
    /// Notes in the log when a call has not come back for long, which makes the counters unknown,
    /// and when it has come back after all; not for ever. Call it now and then, on one thread.
    void watch(int64_t nowNs);

    const Sampler& sampler() const { return *sampler_; }
    /// False as long as it looks for what to read, and if it found nothing.
    bool isSampling() const { return isSampling_.load(); }
    bool hasFoundNothing() const { return hasFoundNothing_.load(); }
    int64_t periodNs() const { return periodNs_; }
    Cost cost() const;

  private:
    /// Of this thread and of those that work for it.
    int64_t cpuNs() const;
    void run();
    void work();
    /// What it does when no memory is left: says so if it can, and ends.
    void giveUp();
    void loop();
    bool sample();
    void readMoments();
    void end();
    void write(const log::MomentMessage& moment, const MomentReading& reading);
    int64_t nextTurnNs() const;

    const std::unique_ptr<Sampler> sampler_;
    const int64_t periodNs_;
    SampleLog& log_;
    MomentPipe* const moments_;
    const int stop_;                       ///< An eventfd.
    std::atomic<int64_t> callBegunNs_{0};  ///< 0: not in a call.
    std::atomic<int64_t> cpuNs_{0}, onceCpuNs_{0}, momentCpuNs_{0};
    std::atomic<bool> isSampling_{false}, hasFoundNothing_{false};
    int64_t hungSinceNs_ = 0;  ///< When the call began that hangs; 0: none does.
    int hangs_ = 0;
    std::vector<log::MomentMessage> waiting_;  ///< Moments that no reading serves yet.
    MomentReading last_;
    std::mutex mutex_;
    log::MonotonicCondition ended_;
    bool hasEnded_ = false;
};

}  // namespace lanescope::capture
