// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// One number a run: its median step, or of a part of it, in nanoseconds.
struct RunMedians {
    std::vector<double> baseline, candidate;
    std::vector<double> spread;  ///< Of earlier runs of one program, for how much runs differ.
    /// When each run was recorded, by its place among those of both sides, if they were recorded by
    /// turns; else empty. Without `spread` only.
    std::vector<double> baselineTurns = {}, candidateTurns = {};
};

/// How many degrees of freedom the spread of these runs has; without any nothing can be said of
/// the programs.
int64_t freedomOf(const RunMedians& medians);

/// By how much two groups of numbers differ, and how well that is known.
struct GroupDifference {
    double baseline = 0;    ///< Mean of its numbers.
    double difference = 0;  ///< Of the candidate's mean less the baseline's.
    double error = 0;       ///< Standard error of the difference.
    int64_t freedom = 0;    ///< Of the spread that it rests on.

    double reach() const;   ///< Half of the 95 % confidence interval.
    double pValue() const;  ///< Two-sided.
};

/// The difference of means, with one variance for all groups. Where the turns are known, a straight
/// drift over them is taken out if it is seen, with p below 0.1 (analysis of covariance; Fisher,
/// "Statistical Methods for Research Workers", 1932). Looking for it costs one degree of freedom,
/// found or not, where differences of neighbouring runs would cost half of them, and favours no
/// side though one always comes first. Always taking it out would widen the intervals of three runs
/// a side that do not drift by a twentieth, and by a tenth where they have two modes. `freedomOf`
/// must be at least 1. O(n).
GroupDifference differenceOf(const RunMedians& numbers);

inline constexpr double significantRuns = 0.05;     ///< A smaller p value is no chance.
inline constexpr double smallestPercentOfStep = 1;  ///< That anyone cares about.

/// Whether the candidate's program is slower than the baseline's, judged with the run as the unit:
/// steps of one run share its clocks, its memory and its place on the machine, so that they say
/// nothing of how another run would have gone. A t test and interval on the logarithms of the
/// runs' median steps, with one variance for all groups (Kalibera and Jones, "Rigorous benchmarking
/// in reasonable time", 2013, resample nothing below the level that varies, either; with three runs
/// a side a bootstrap over runs covers far less than it says). `Slower` and `Faster` need p below
/// 0.05 and a change of at least 1 %. `weight` is the share of these 0.05 that it has if more is
/// judged beside it, which `visiblePercent` considers. `freedomOf` must be at least 1. O(n).
Claim judgeRuns(const RunMedians& medians, double weight = 1);

/// The outcome of a claim of runs by its `adjustedPValue`.
Outcome outcomeOfRuns(const Claim& claim);

}  // namespace lanescope::compare
