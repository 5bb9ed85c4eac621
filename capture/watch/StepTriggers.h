// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "capture/log/RecordingLevel.h"

namespace lanescope::capture {

/// Detector of slow steps and of lasting changes in the steps of one process. A step is slow if it is longer than the
/// median of the recent ones by six times their median deviation (scaled as a standard deviation), 10 % and 1 ms. The
/// level has changed if the median of the last 32 steps differs from that of the 128 before by as much. One thread.
class StepTriggers {
  public:
    enum class Kind : uint8_t { SlowStep, LevelChange };
    struct Event {
        Kind kind;
        int64_t stepNs;    ///< Length of the step, or the new median.
        int64_t medianNs;  ///< Median that it was compared with.
    };
    static constexpr size_t historyCount = 256, firstCount = 32, newCount = 32, oldCount = 128;

    /// Adds a step of that length and returns what is remarkable about it. O(historyCount).
    std::optional<Event> add(int64_t stepNs);
    /// Forgets the history, as after steps that were recorded otherwise.
    void forget() { history_.clear(); }
    /// Returns the median that the last step was compared with; 0 if it was not.
    int64_t medianNs() const { return medianNs_; }

  private:
    std::deque<int64_t> history_;
    int64_t sinceChange_ = 0, medianNs_ = 0;
};

/// Level of recording that a budget permits. It alternates blocks of steps, recorded and not, and takes the highest
/// level whose cost, the upper end of its 95 % interval, is within the budget. One thread.
class LevelController {
  public:
    using Level = log::RecordingLevel;
    struct Cost {
        Level level = Level::All;
        double percent = 0, lowPercent = 0, highPercent = 0;  ///< Percent of the step, with a 95 % interval.
        int64_t pairs = 0;
    };
    static constexpr size_t stepsPerBlock = 10;
    static constexpr int64_t blockNs = 1'000'000'000;      ///< Minimum length of a block.
    static constexpr int64_t settlingNs = 1'000'000'000;   ///< Time from a change to steps that count.
    static constexpr int64_t minPairs = 8, maxPairs = 60;  ///< Examined at 8, 15, 30 and 60 pairs.

    /// `budgetPercent` of the step; negative: no limit, and always `All`.
    explicit LevelController(double budgetPercent) : budgetPercent_(budgetPercent) {}

    /// Adds the next step. It counts if the process has recorded at `level()` since 1 s before its start; `appliedNs`
    /// is the time since which it does, `INT64_MAX` if it does not. Returns true if `level()` has changed.
    bool add(int64_t startNs, int64_t endNs, int64_t appliedNs);
    /// Begins the present block again, as with the steps of another process.
    void restartBlock() { block_.clear(); }
    Level level() const { return isBaseline_ ? Level::Steps : tried_; }
    /// Returns true while it measures by alternating blocks.
    bool isMeasuring() const { return budgetPercent_ >= 0 && !isDecided_; }
    /// Measures again from the most detailed level. Returns true if `level()` has changed.
    bool measureAgain();
    /// Returns the measured costs, the most detailed level first.
    const std::vector<Cost>& costs() const { return costs_; }

  private:
    void endBlock();
    void decide();

    const double budgetPercent_;
    Level tried_ = Level::All;
    bool isBaseline_ = false, isDecided_ = false;
    int64_t blockBegunNs_ = 0;
    std::vector<int64_t> block_;
    std::optional<double> recordedNs_;  // median of the pair's first block
    std::vector<double> differences_;   // percent, of pairs
    std::vector<Cost> costs_;
};

}  // namespace lanescope::capture
