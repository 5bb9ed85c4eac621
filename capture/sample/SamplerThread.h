// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capture/log/LogFormat.h"
#include "capture/log/MonotonicCondition.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "model/format/UniqueFd.h"

namespace lanescope::capture {

/// Schedule of several queries that together take at most a share of a core. Each query's cost is the median of its own
/// processor time. While its first few calls differ, the cheapest is a guess. If not all fit at their desired rates,
/// the cheapest keep theirs, up to half of the share. The others are slowed down in proportion to the square root of
/// their cost, which minimizes the age of the values. All run on one grid of turns, so that the thread wakes up once
/// for all. One thread.
class Pace {
  public:
    /// `turnNs` is the grid on which queries run, from 0 of CLOCK_MONOTONIC.
    Pace(double shareOfCore, int64_t turnNs) : shareOfCore_(shareOfCore), turnNs_(turnNs) {}

    static constexpr int64_t anyPeriod = 3'600'000'000'000;

    /// Adds a query and returns its number, counted from 0. Of two with equal cost, one of `weight` 4 runs twice as
    /// often. No query runs more rarely than each `maxPeriodNs`, whatever it costs.
    size_t add(std::string name, int64_t wantedPeriodNs, double weight = 1, int64_t maxPeriodNs = anyPeriod);
    /// Returns true if a query is due, and then counts it as run.
    bool isDue(size_t query, int64_t nowNs);
    /// Returns the time of the next due query, on the grid; 0: at once.
    int64_t nextDueNs() const;
    /// Measures this thread's processor time from `begin` to `end` as the cost of a query, for all GPUs together.
    void begin();
    void end(size_t query);
    /// Adds a cost that was measured elsewhere.
    void addCost(size_t query, int64_t costNs);

    int64_t periodNs(size_t query) const { return queries_[query].periodNs; }
    /// Returns the periods of the queries that ran: "power every 100 ms, energy every 4.2 s".
    std::string describe() const;

  private:
    /// The first call initializes what later calls reuse, so it is skipped. While there are at most a few inconsistent
    /// calls, the cheapest is the estimate, for a limited time; then the median counts.
    static constexpr int64_t skippedCalls = 1, guessedCalls = 4;
    static constexpr int64_t maxGuessNs = 5'000'000'000;
    static constexpr size_t keptCosts = 9;
    struct Query {
        std::string name;
        int64_t wantedNs = 0, maxNs = 0, periodNs = 0;
        double weight = 1;
        int64_t lastNs = -1;  ///< Turn of the last run; -1: none yet.
        int64_t calls = 0;
        std::array<int64_t, keptCosts> costs{};  ///< A ring of the latest.
        int64_t costNs = 0;                      ///< Assumed cost; 0: unknown.
        bool isGuess = true;

        int64_t periodLimitNs() const { return isGuess ? std::min(maxNs, std::max(wantedNs, maxGuessNs)) : maxNs; }
        double wantedShare() const { return static_cast<double>(costNs) / static_cast<double>(wantedNs); }
    };
    void decide();
    void judge(Query& query) const;
    void slowDown(std::vector<Query*> queries, double share) const;

    const double shareOfCore_;
    const int64_t turnNs_;
    std::vector<Query> queries_;
    int64_t begunNs_ = 0;
};

/// A reading of counters at the begin or end of chosen ranges. All times are those of samples (`sampleTimeNs`).
struct TimedReading {
    /// Maximum time between events served by one reading: the end of a range and the begin of the
    /// next, or the same range of several ranks.
    static constexpr int64_t sharedNs = 2'000'000;

    int64_t beginNs = 0, endNs = 0;  ///< 0: there was none.
    int64_t validFromNs = 0;         ///< Values read from here on were not read again.

    /// Returns true if an event reported after the reading had begun needs no reading of its own.
    bool serves(int64_t readingNs) const { return beginNs != 0 && readingNs <= beginNs + sharedNs; }
};

/// Reading end of the pipe through which agents report the begin or end of a chosen range.
class TimePipe {
  public:
    /// Opens the existing pipe of a run; without it no messages arrive.
    explicit TimePipe(const std::filesystem::path& runFolder);

    /// Returns a descriptor that is readable when a message waits; -1 without a pipe.
    int descriptor() const { return descriptor_; }
    void take(std::vector<log::MomentMessage>& moments);

  private:
    UniqueFd descriptor_;
};

/// Thread that runs a sampler at a steady pace, on turns that all such threads share. Its calls may
/// hang forever: no caller waits for it beyond a deadline. A hanging thread must then outlive
/// everything else, so the process has to end by `_exit`.
class SamplerThread {
  public:
    struct Cost {
        double onceSeconds = 0;  ///< For loading libraries, the search for values, and the end.
        double readingSeconds = 0;
        double steadySeconds = 0;  ///< For everything else.
    };

    /// `moments` may be null; it wakes the sampler when a chosen range begins or ends.
    SamplerThread(std::unique_ptr<Sampler> sampler, int64_t periodNs, SampleLog& log, TimePipe* moments);

    void requestStop();
    /// Returns true if it ended before the deadline, CLOCK_MONOTONIC.
    bool waitUntil(int64_t deadlineNs);
    /// Notes in the log a call that has not returned for long, which makes the counters unknown,
    /// and its return, a limited number of times. Call it periodically, on one thread.
    void watch(int64_t nowNs);

    const Sampler& sampler() const { return *sampler_; }
    /// Returns false during the search for values, and if it found none.
    bool isSampling() const { return isSampling_.load(); }
    bool hasFoundNothing() const { return hasFoundNothing_.load(); }
    int64_t periodNs() const { return periodNs_; }
    Cost cost() const;

  private:
    /// Returns the processor time of this thread and of its helpers.
    int64_t cpuNs() const;
    void run();
    void work();
    /// Handles lack of memory: reports it if possible, and ends.
    void giveUp();
    void loop();
    bool sample();
    void readTimes();
    void end();
    void write(const log::MomentMessage& moment, const TimedReading& reading);
    int64_t nextTurnNs() const;

    const std::unique_ptr<Sampler> sampler_;
    const int64_t periodNs_;
    SampleLog& log_;
    TimePipe* const moments_;
    const int stop_;                       ///< An eventfd.
    std::atomic<int64_t> callBegunNs_{0};  ///< 0: not in a call.
    std::atomic<int64_t> cpuNs_{0}, onceCpuNs_{0}, readingCpuNs_{0};
    std::atomic<bool> isSampling_{false}, hasFoundNothing_{false};
    int64_t hungSinceNs_ = 0;  ///< Start of the hanging call; 0: none hangs.
    int hangs_ = 0;
    std::vector<log::MomentMessage> waiting_;  ///< Events that no reading serves yet.
    TimedReading last_;
    std::mutex mutex_;
    log::MonotonicCondition ended_;
    bool hasEnded_ = false;
};

}  // namespace lanescope::capture
