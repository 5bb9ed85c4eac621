// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// What stands in the place of one worker in each run of a program; each has steps.
using WorkerRuns = std::vector<const WorkerSummary*>;

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

}  // namespace lanescope::compare
