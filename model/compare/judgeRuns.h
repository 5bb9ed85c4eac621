// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// A change of the level of a series, and its size.
struct ChangePoint {
    size_t first = 0;  ///< Index of the first value after the change.
    /// Difference of the means of logarithms, in percent: after the change, against since any previous one.
    double percent = 0;
    double pValue = 1;
};

/// Values that a change point needs on each side: a single one is an outlier.
inline constexpr size_t minValuesPerSide = 2;

/// Returns the latest change of the level of a series, such as the median steps of runs in order, or nullopt. The
/// values must be greater than 0.
///
/// The place is where the cumulative sum of the logarithms is farthest from its line, relative to the number of values
/// on either side (Page, "Continuous inspection schemes", 1954; the likelihood ratio of one normal series against two).
/// 999 random orders of the same values show if that is more than chance, as in Matteson and James, "A nonparametric
/// approach for multiple change point analysis of multivariate data" (2014): p below 0.025, whatever the distribution,
/// if the order means nothing without a change. Changes below 1 % do not count. After the first change the rest is
/// searched again (binary segmentation). The same series gives the same answer. O(999 n).
std::optional<ChangePoint> latestChange(std::span<const double> values);

/// Indices of values, from `begin` to before `end`.
struct Stretch {
    size_t begin = 0, end = 0;
};

/// Returns the values among the first `count` with which a new value is compared: the values since the change, if at
/// least `fewest`; else the values before the change, if at least `fewest`; else all.
Stretch levelOf(size_t count, const std::optional<ChangePoint>& change, size_t fewest);

/// Returns the distribution of the wall times of steps. O(n log n).
StepDistribution distributionOf(std::span<const int64_t> wallNs);

StepDistribution stepsOf(const analysis::WorkerSummary& worker);

/// Judges if the candidate's steps take longer, by the rules of `Claim`. The values are in the order of the steps.
Claim judgeSteps(std::span<const int64_t> baselineNs, std::span<const int64_t> candidateNs);

/// One number per run, in nanoseconds: its median step, or that of a part.
struct RunMedians {
    std::vector<double> baseline, candidate;
    std::vector<double> spread;  ///< Earlier runs of one program, for the spread between runs.
    /// Order of recording of each run among both sides, if recorded alternately; else empty. Only without `spread`.
    std::vector<double> baselineTurns = {}, candidateTurns = {};
};

/// Returns the degrees of freedom of the spread of these runs. With 0 there is no verdict on programs.
int64_t freedomOf(const RunMedians& medians);

/// Difference of two groups of numbers, and its precision.
struct GroupDifference {
    double baseline = 0;    ///< Mean of its numbers.
    double difference = 0;  ///< Candidate's mean minus the baseline's.
    double error = 0;       ///< Standard error of the difference.
    int64_t freedom = 0;    ///< Degrees of freedom of the spread behind it.

    double reach() const;   ///< Returns half of the 95 % confidence interval.
    double pValue() const;  ///< Two-sided.
};

/// Returns the difference of means, with one variance for all groups. `freedomOf` must be at least
/// 1. O(n).
///
/// If the order is known, a linear drift over it is removed if detected with p below 0.1 (analysis of covariance;
/// Fisher, "Statistical Methods for Research Workers", 1932). The test costs one degree of freedom, whether a drift is
/// found or not, and favours no side although one always comes first. Differences of neighbouring runs would cost half
/// of the degrees of freedom. Removing it always would widen the intervals of three runs per side without drift by a
/// twentieth, and by a tenth if they have two modes.
GroupDifference differenceOf(const RunMedians& numbers);

inline constexpr double runsSignificanceThreshold = 0.05;  ///< A smaller p value is significant.
inline constexpr double minRelevantPercent = 1;            ///< Smallest relevant change, in percent.

/// Judges if the candidate's program is slower than the baseline's, with the run as the unit. Steps of one run share
/// its clocks, memory and place on the machine, so they give no evidence about another run.
///
/// A t test and interval on the logarithms of the runs' median steps, with one variance for all groups. Kalibera and
/// Jones, "Rigorous benchmarking in reasonable time", 2013, also resample nothing below the level that varies. With
/// three runs per side a bootstrap over runs covers far less than stated. `Slower` and `Faster` need p below 0.05 and a
/// change of at least 1 %. `weight` is the share of the 0.05 if further quantities are judged, which `visiblePercent`
/// considers. `freedomOf` must be at least 1. O(n).
Claim judgeRuns(const RunMedians& medians, double weight = 1);

/// The counterparts of one worker in each run of a program; each has steps.
using WorkerRuns = std::vector<const analysis::WorkerSummary*>;

/// The runs by which a pair of workers is judged.
struct JudgedRuns {
    WorkerRuns baseline, candidate;
    WorkerRuns earlier;  ///< Runs for the spread between runs.
    /// As in `RunMedians`.
    std::vector<double> baselineTurns = {}, candidateTurns = {};
};

/// Judges the step of a pair of workers, each part of it, and the idle time in each NVTX path, each with its own spread
/// between runs. The time of a whole step may differ by a third among runs of one program, all of it time in which a
/// CPU thread was late, while its GPU compute time differs by less than a hundredth. A change of the latter may thus be
/// certain although the step is undecided.
///
/// The number of a run is the median over its steps, for a path the mean. Parts and paths below half a percent of the
/// step are not judged, and only the eight longest paths are. Each further quantity makes all others harder to detect,
/// since together they err in at most 5 of 100 comparisons of equal programs (Holm, with half of the weight for the
/// step). Parts are judged by differences in nanoseconds, since they may be 0. Sets `claim` and `quantities`. The runs
/// must have a spread (see `freedomOf`). O(steps + contributors), except for sorting.
void judgeParts(const JudgedRuns& runs, WorkerComparison& pair);

/// Returns half of the width of a claim's interval, in percent of the baseline.
double reachPercent(const Claim& claim);

/// Fewer runs per side are never enough: their spread may be small by chance.
inline constexpr int64_t minRunsToStop = 5;
/// Required precision of a difference; smaller differences are no claim (`judgeRuns`).
inline constexpr double maxReachPercent = 1;

/// Returns true if two programs have been run often enough, by the claims after each round so far, oldest first: in
/// each of the last two, of at least `minRunsToStop` runs per side, `reachPercent` was at most `maxReachPercent`. O(1).
///
/// This tests the precision of the difference, never its size. Testing significance after each run and stopping at the
/// first success finds a difference sooner or later in any case (Armitage, McPherson and Rowe, "Repeated significance
/// tests on accumulating data", 1969). An interval of fixed width has nearly its nominal coverage (Chow and Robbins,
/// "On the asymptotic theory of fixed-width sequential confidence intervals", 1965), except for few runs, hence the
/// five, and twice.
bool areEnough(std::span<const Claim> rounds);

}  // namespace lanescope::compare
