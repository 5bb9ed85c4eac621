// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// The patterns of steps (`patternOf`) that one side has and the other has not, or has less than
/// half as much of: what no median tells. Of several runs a side, what at least half of them do.
/// One for each kind and period, of the worker where it is not time spent waiting for other ranks;
/// the dearest first. With their words. O(n log n) in the steps.
std::vector<PatternDifference> patternDifferences(const std::vector<WorkerComparison>& pairs,
                                                  const RunSummary& baseline,
                                                  const RunSummary& candidate);

}  // namespace lanescope::compare
