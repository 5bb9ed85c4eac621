// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "capture/sample/SampleLog.h"
#include "model/format/threadStates.h"

namespace lanescope::capture {

/// Content of /proc/PID/task/TID/syscall.
struct SystemCall {
    bool isRunning = false;  ///< It runs or is runnable.
    int64_t number = -1;     ///< -1: it sleeps outside of a call, as at a page that has to be read.
    uint64_t argument = 0;   ///< The first argument; of a futex its address.
    bool isKnown = false;    ///< False if the file contains no facts.
};
SystemCall parseSystemCall(std::string_view text);

/// Returns the reason of a thread's sleep in a system call, as far as the call shows it; a lock may be Python's.
ThreadState sleepReason(const SystemCall& call);
/// Returns the name of the call, "futex"; empty if it is not a common wait.
std::string_view nameOfCall(int64_t number);
bool isFutex(int64_t number);
/// Returns true if the call works on the file of its first argument, and may wait for a disk.
bool mayBeDisk(const SystemCall& call);

struct ThreadSample {
    ThreadState state = ThreadState::Unknown;
    uint32_t stack = 0;       ///< In the log.
    std::string_view call{};  ///< A literal.
    uint32_t holderThread = 0, holderStack = 0;
    bool operator==(const ThreadSample&) const = default;
};

/// Builder of runs from the samples of one thread: intervals in one state at one line. Between two different samples
/// the kernel's time on a core determines the boundary. If the thread was put on a core too often for that, the time
/// between is a wait with its time on a core, or half each of two waits.
///
/// A wait without a sample has no line and no known kind. It is assigned to the kind that lacks the largest part of its
/// expected time. Samples fall into all waits alike, so their shares are that expectation; otherwise long waits would
/// take the time of short ones. One thread.
class StateRuns {
  public:
    StateRuns(SampleLog& log, uint32_t process, uint32_t thread) : log_(log), process_(process), thread_(thread) {}

    /// Adds a sample at `nowNs` (the time of samples). Since the last sample the thread had a core for `cpuNs` and
    /// wanted one for `delayNs`. It was put on one `slices` times and began to wait `waits` times; 0 if unknown.
    void add(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs, int64_t slices = 0,
             int64_t waits = 0);
    /// Ends the last run: the thread has ended, or the sampling.
    void end();

    const ThreadSample& latest() const { return seen_; }
    int64_t latestNs() const { return latestNs_; }

  private:
    /// Maximum length before a run is written, so that the state of a long sleep survives the end of the recorder.
    static constexpr int64_t maxRunNs = 30'000'000'000;
    /// Minimum length of a run between two waits.
    static constexpr int64_t minRunNs = 1'000'000;

    /// Minimum distance of samples that may have an unsampled wait between them.
    static constexpr int64_t minUnseenNs = 10'000'000;

    void change(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs, int64_t waits);
    void keepWait(const ThreadSample& seen, int64_t passedNs);
    /// Returns true if it ran in both samples and waited between them.
    bool isUnseenBetween(const ThreadSample& seen, int64_t waitedNs, int64_t waits) const;
    void waitBetween(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs, const ThreadSample& wait);
    /// Returns the kind of wait that lacks most of its share; nullopt if none was sampled.
    std::optional<ThreadSample> lackingWait() const;
    /// Returns the unsampled wait before or after `wait`; `wait` itself if that lacks most time.
    ThreadSample unsampledWait(const ThreadSample& wait) const;
    void leaveOrEnterContended(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs);
    void goToAndFro(int64_t nowNs, const ThreadSample& seen, int64_t cpuNs, int64_t delayNs);
    /// Ends the run at that time and begins another, which has had a core, or wanted one, for so long already.
    void turn(int64_t timeNs, const ThreadSample& seen, int64_t cpuNs = 0, int64_t delayNs = 0);
    void close(int64_t endNs);
    void begin(int64_t startNs, const ThreadSample& seen);

    SampleLog& log_;
    const uint32_t process_, thread_;
    ThreadSample seen_;
    int64_t startNs_ = 0, latestNs_ = 0;  ///< 0: no sample yet.
    int64_t cpuNs_ = 0, delayNs_ = 0;
    uint32_t samples_ = 0;
    double gilShare_ = 0;  ///< Share among the latest active samples.
    /// Recent totals of one kind of wait: the time represented by its samples, since their distance
    /// varies, and the time assigned to it.
    struct Wait {
        double seenNs = 0, givenNs = 0;
        std::string_view call;
    };
    std::array<Wait, threadStateCount> waits_;
    double distanceNs_ = 0;  ///< Mean distance of samples.
};

}  // namespace lanescope::capture
