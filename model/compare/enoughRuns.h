// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

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
