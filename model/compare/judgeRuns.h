// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// How the wall times of steps are spread. O(n log n).
StepDistribution distributionOf(std::span<const int64_t> wallNs);

/// The same of a worker's steps.
StepDistribution stepsOf(const analysis::WorkerSummary& worker);

/// Whether the candidate's steps take longer, by the rules of `Claim`. The values in the order of
/// the steps.
Claim judgeSteps(std::span<const int64_t> baselineNs, std::span<const int64_t> candidateNs);

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

/// What stands in the place of one worker in each run of a program; each has steps.
using WorkerRuns = std::vector<const analysis::WorkerSummary*>;

/// The runs by which a pair of workers is judged.
struct JudgedRuns {
    WorkerRuns baseline, candidate;
    WorkerRuns earlier;  ///< They tell how much runs differ.
    /// As those of `RunMedians`.
    std::vector<double> baselineTurns = {}, candidateTurns = {};
};

/// Judges the step of a pair of workers and, beside it, what it is made of: each part, and the idle
/// time in each NVTX path, each with its own spread between runs. The time of a whole step may
/// differ by a third among runs of one program, all of it time in which a CPU thread was late,
/// while the time that its GPU computes differs by less than a hundredth; so a change of the latter
/// is certain where one of the step cannot be told.
///
/// The number of a run is the median over its steps, of a path the mean. Parts and paths that are
/// less than half a percent of the step are not judged, and of the paths the eight longest are:
/// each makes all others harder to see, since all together err in at most 5 of 100 comparisons of
/// equal programs (Holm, with half of the weight for the step). Parts are judged by differences in
/// nanoseconds, since they may be 0. Sets `claim` and `quantities`. The runs must have a spread, as
/// `freedomOf` says. O(steps + contributors), but for sorting.
void judgeParts(const JudgedRuns& runs, WorkerComparison& pair);

/// Half of the width of a claim's interval, in percent of the baseline.
double reachPercent(const Claim& claim);

/// Fewer runs a side are never enough: their spread may have come out small by luck.
inline constexpr int64_t fewestRunsToStop = 5;
/// As near as a difference must be known; a smaller one is no claim (`judgeRuns`).
inline constexpr double enoughPercent = 1;

/// Whether two programs have been run often enough, by the claims after each round so far, oldest
/// first: in each of the last two, of at least `fewestRunsToStop` runs a side, `reachPercent` was
/// at most `enoughPercent`. That asks how precisely the difference is known and never how large it
/// is. Who looks at significance after each run and stops at the first that is finds a difference
/// sooner or later, whatever is true (Armitage, McPherson and Rowe, "Repeated significance tests on
/// accumulating data", 1969); an interval of fixed width covers what it says, nearly (Chow and
/// Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals", 1965), but
/// for few runs, hence the five, and twice. O(1).
bool areEnough(std::span<const Claim> rounds);

}  // namespace lanescope::compare
