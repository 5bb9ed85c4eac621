#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "capture/sample/MomentPipe.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope {

/// Runs a sampler on a thread of its own at a steady pace. What it calls may hang for good: nobody
/// waits for the thread beyond a deadline, and it must then outlive all else, so the process has to
/// be left by `_exit`.
class SamplerThread {
  public:
    /// `moments` may be null; it wakes the sampler when a chosen range begins or ends.
    SamplerThread(std::unique_ptr<Sampler> sampler, int64_t periodNs, SampleLog& log,
                  MomentPipe* moments);

    /// Asks the thread to end; returns at once.
    void requestStop();
    /// True if it ended before the deadline, CLOCK_MONOTONIC.
    bool waitUntil(int64_t deadlineNs);
    /// Notes in the log when a call has not come back for long, and when it has. Call it now and
    /// then, on one thread.
    void watch(int64_t nowNs);

    const Sampler& sampler() const { return *sampler_; }
    /// False as long as it looks for what to read, and if it found nothing.
    bool isSampling() const { return isSampling_.load(); }
    bool hasFoundNothing() const { return hasFoundNothing_.load(); }
    int64_t periodNs() const { return periodNs_; }
    /// Processor time that it has used.
    double cpuSeconds() const { return static_cast<double>(cpuNs_.load()) / 1e9; }

  private:
    void run();
    void loop(int timer);
    void call(bool isMoment, bool& goesOn);

    const std::unique_ptr<Sampler> sampler_;
    const int64_t periodNs_;
    SampleLog& log_;
    MomentPipe* const moments_;
    const int stop_;                       ///< An eventfd.
    std::atomic<int64_t> callBegunNs_{0};  ///< 0: not in a call.
    std::atomic<int64_t> cpuNs_{0};
    std::atomic<bool> isSampling_{false}, hasFoundNothing_{false};
    bool saidItHangs_ = false;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool hasEnded_ = false;
};

}  // namespace lanescope
