// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Median steps of runs, one a run, in nanoseconds, greater than 0.
struct RunMedians {
    std::vector<double> baseline, candidate;
    std::vector<double> spread;  ///< Of earlier runs of one program, for how much runs differ.
};

/// How many degrees of freedom the spread of these runs has; without any nothing can be said of
/// the programs.
int64_t freedomOf(const RunMedians& medians);

/// Whether the candidate's program is slower than the baseline's, judged with the run as the unit:
/// steps of one run share its clocks, its memory and its place on the machine, so that they say
/// nothing of how another run would have gone. A t test and interval on the logarithms of the
/// runs' median steps, with one variance for all groups (Kalibera and Jones, "Rigorous benchmarking
/// in reasonable time", 2013, resample nothing below the level that varies, either; with three runs
/// a side a bootstrap over runs covers far less than it says). `Slower` and `Faster` need p below
/// 0.05 and a change of at least 1 %. `freedomOf` must be at least 1. O(n).
Claim judgeRuns(const RunMedians& medians);

}  // namespace lanescope::compare
