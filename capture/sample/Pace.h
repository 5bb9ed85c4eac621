// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::capture {

/// How often each of several queries is made, so that all of them together take no more than a
/// share of a core. Each is judged by the median of its own processor time, and never by one call
/// alone. Where all do not fit as often as they are wanted, the cheapest keep their pace, up to
/// half of the share; of the others the dearer is made the more seldom, by the square root of what
/// it costs, which makes the values least old on the whole. All fall on one grid of turns, so that
/// the thread wakes up once for all. One thread.
class Pace {
  public:
    /// `turnNs` is the grid on which queries are made, from 0 of CLOCK_MONOTONIC.
    Pace(double shareOfCore, int64_t turnNs) : shareOfCore_(shareOfCore), turnNs_(turnNs) {}

    static constexpr int64_t anyPeriod = 3'600'000'000'000;

    /// Adds a query; its number is how many there were before. Of two that cost the same, one of
    /// `weight` 4 is made twice as often. None is made more seldom than each `slowestPeriodNs`,
    /// whatever it costs.
    size_t add(std::string name, int64_t wantedPeriodNs, double weight = 1,
               int64_t slowestPeriodNs = anyPeriod);
    /// Whether a query is due; it is then taken to be made.
    bool isDue(size_t query, int64_t nowNs);
    /// When the next one is due, on the grid; 0: at once.
    int64_t nextDueNs() const;
    /// Counts the processor time of this thread between the two as what a query cost, all GPUs
    /// together.
    void begin();
    void end(size_t query);
    /// The same with a time that was measured elsewhere.
    void tell(size_t query, int64_t costNs);

    int64_t periodNs(size_t query) const { return queries_[query].periodNs; }
    /// Of a core, if every query costs what it did; queries that were not judged yet left out.
    double plannedShare() const;
    /// "power every 100 ms, energy every 4.2 s": queries that were made.
    std::string describe() const;

  private:
    /// The first call loads and wakes up what later ones find ready. As long as there is one more
    /// only, or few that do not agree, the cheapest is a guess, which is believed for so long at
    /// the most; then the median counts.
    static constexpr int64_t skippedCalls = 1, guessedCalls = 4;
    static constexpr int64_t longestGuessNs = 5'000'000'000;
    static constexpr size_t keptCosts = 9;
    struct Query {
        std::string name;
        int64_t wantedNs = 0, slowestNs = 0, periodNs = 0;
        double weight = 1;
        int64_t lastNs = -1;  ///< The turn at which it was made; -1: not yet.
        int64_t calls = 0;
        std::array<int64_t, keptCosts> costs{};  ///< A ring of the latest.
        int64_t costNs = 0;                      ///< What it is taken to cost; 0: not judged yet.
        bool isGuess = true;

        int64_t longestPeriodNs() const {
            return isGuess ? std::min(slowestNs, std::max(wantedNs, longestGuessNs)) : slowestNs;
        }
        double wantedShare() const {
            return static_cast<double>(costNs) / static_cast<double>(wantedNs);
        }
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
