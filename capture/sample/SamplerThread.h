// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "capture/log/LogFormat.h"
#include "capture/log/MonotonicCondition.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope::capture {

/// A reading of what belongs to the moments at which chosen ranges begin and end. All times are
/// those of samples (`sampleTimeNs`).
struct MomentReading {
    /// The end of a range and the beginning of the next, or the same range of several ranks, come
    /// within this time; one reading serves them all.
    static constexpr int64_t sharedNs = 2'000'000;

    int64_t beginNs = 0, endNs = 0;  ///< 0: there was none.
    int64_t validFromNs = 0;         ///< Values that were read from here on were not read again.

    /// Whether a moment that was told of after the reading had begun needs none of its own.
    bool serves(int64_t momentNs) const { return beginNs != 0 && momentNs <= beginNs + sharedNs; }
};

/// The reading end of the pipe through which agents tell that a chosen range began or ended.
class MomentPipe {
  public:
    /// Opens the pipe of a run, which must be there; without it nothing ever comes.
    explicit MomentPipe(const std::filesystem::path& runFolder);
    MomentPipe(const MomentPipe&) = delete;
    MomentPipe& operator=(const MomentPipe&) = delete;
    ~MomentPipe();

    /// Readable when there is a moment; -1 without a pipe.
    int descriptor() const { return descriptor_; }
    /// Adds the moments that wait.
    void take(std::vector<log::MomentMessage>& moments);

  private:
    int descriptor_ = -1;
};

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
