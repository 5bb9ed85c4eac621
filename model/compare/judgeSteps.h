// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// How the wall times of steps are spread. O(n log n).
StepDistribution distributionOf(std::span<const int64_t> wallNs);

/// The same of a worker's steps.
StepDistribution stepsOf(const WorkerSummary& worker);

/// Whether the candidate's steps take longer, by the rules of `Claim`. The values in the order of
/// the steps.
Claim judgeSteps(std::span<const int64_t> baselineNs, std::span<const int64_t> candidateNs);

/// `values` divided by `count`, rounded down or up so that they sum to `sum`, which must lie
/// between the sum of all rounded down and of all rounded up. What is rounded up are the greatest
/// remainders, of equal ones the first (Hamilton's method).
std::vector<int64_t> shareOut(std::span<const int64_t> values, int64_t count, int64_t sum);

}  // namespace lanescope::compare
