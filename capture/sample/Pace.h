// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace lanescope::capture
