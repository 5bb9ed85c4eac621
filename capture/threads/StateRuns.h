// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "capture/sample/SampleLog.h"
#include "model/format/threadStates.h"

namespace lanescope::capture {

/// What /proc/PID/task/TID/syscall says of a thread.
struct SystemCall {
    bool isRunning = false;  ///< It runs, or could.
    int64_t number = -1;     ///< -1: it sleeps in none, as at a page that has to be read.
    uint64_t argument = 0;   ///< The first; of a futex its address.
    bool isKnown = false;    ///< False if the file says nothing.
};
SystemCall parseSystemCall(std::string_view text);

/// For what a thread sleeps in a system call, as far as the call tells; a lock may be Python's.
ThreadState sleepReason(const SystemCall& call);
/// What the call is called, "futex"; empty if it is none of those that threads commonly wait in.
std::string_view nameOfCall(int64_t number);
bool isFutex(int64_t number);
/// Whether the call works on the file that its first argument names, and may wait for a disk.
bool mayBeDisk(const SystemCall& call);

/// What one look at a thread finds.
struct SeenState {
    ThreadState state = ThreadState::Unknown;
    uint32_t stack = 0;       ///< In the log.
    std::string_view call{};  ///< A literal.
    uint32_t holderThread = 0, holderStack = 0;
    bool operator==(const SeenState&) const = default;
};

/// Makes runs of what looks at one thread find: from when to when it was in one state at one line.
/// Between two looks that differ the kernel's count of the time on a core says where one ends and
/// the next begins, unless the thread was put on a core so often that it cannot say: then the time
/// between is a wait with the time on a core that it had, or half each of two waits.
///
/// Of a wait that no look fell into only that it was is known. It has no line, and is for what has
/// least of the time by now that looks, which fall into all alike, say that it should have: else
/// long waits would take the time of short ones.
/// One thread.
class StateRuns {
  public:
    StateRuns(SampleLog& log, uint32_t process, uint32_t thread)
        : log_(log), process_(process), thread_(thread) {}

    /// A look at `nowNs` (the time of samples), before which the thread had a core for `cpuNs` and
    /// wanted one for `delayNs`, was put on one `slices` times and began to wait `waits` times, all
    /// since the look before; 0 if that is not known.
    void see(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs,
             int64_t slices = 0, int64_t waits = 0);
    /// The thread is gone, or nobody looks any more.
    void end();

    const SeenState& latest() const { return seen_; }
    int64_t latestNs() const { return latestNs_; }

  private:
    /// So that what is known of a thread that sleeps for long survives the end of the recorder.
    static constexpr int64_t longestNs = 30'000'000'000;
    /// A run between two waits is told of if it was as long.
    static constexpr int64_t shortestRunNs = 1'000'000;

    /// Looks that are closer than that usually are have hardly a wait between them.
    static constexpr int64_t shortestUnseenNs = 10'000'000;

    void change(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs,
                int64_t waits);
    void keepWait(const SeenState& seen, int64_t passedNs);
    /// Whether it ran at both looks, and waited between them.
    bool isUnseenBetween(const SeenState& seen, int64_t waitedNs, int64_t waits) const;
    void waitBetween(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs,
                     const SeenState& wait);
    /// The kind of wait that lacks most of its share; nothing if none was seen.
    std::optional<SeenState> lackingWait() const;
    /// The wait that nobody saw, before or after `wait`; `wait` itself where that lacks time most.
    SeenState waitBeside(const SeenState& wait) const;
    void leaveOrEnterContended(int64_t nowNs, const SeenState& seen, int64_t cpuNs,
                               int64_t delayNs);
    void goToAndFro(int64_t nowNs, const SeenState& seen, int64_t cpuNs, int64_t delayNs);
    void close(int64_t endNs);
    void begin(int64_t startNs, const SeenState& seen);

    SampleLog& log_;
    const uint32_t process_, thread_;
    SeenState seen_;
    int64_t startNs_ = 0, latestNs_ = 0;  ///< 0: no look yet.
    int64_t cpuNs_ = 0, delayNs_ = 0;
    uint32_t looks_ = 0;
    double gilShare_ = 0;  ///< Of the latest looks at which it ran or wanted to.
    /// Of one kind of wait, of late: for how long looks stand that fell into it, as they are not
    /// always as far apart, and what it was given.
    struct Wait {
        double seenNs = 0, givenNs = 0;
        std::string_view call;
    };
    std::array<Wait, threadStateCount> waits_;
    double apartNs_ = 0;  ///< How far apart looks are, in the mean.
};

}  // namespace lanescope::capture
