// SPDX-License-Identifier: Apache-2.0
#include "model/compare/enoughRuns.h"

#include <algorithm>

namespace lanescope::compare {

double reachPercent(const Claim& claim) {
    return (claim.highPercent - claim.lowPercent) / 2;
}

bool areEnough(std::span<const Claim> rounds) {
    constexpr size_t inARow = 2;
    if (rounds.size() < inARow) return false;
    return std::ranges::all_of(rounds.last(inARow), [](const Claim& claim) {
        return claim.unit == ClaimUnit::Runs &&
               std::min(claim.baselineRuns, claim.candidateRuns) >= fewestRunsToStop &&
               reachPercent(claim) <= enoughPercent;
    });
}

}  // namespace lanescope::compare
