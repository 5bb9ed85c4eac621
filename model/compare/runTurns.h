// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Of fewer runs a side too little is left to tell a drift from chance.
inline constexpr size_t fewestRunsByTurns = 3;

/// When each run of two sides was recorded, as its place among all of them; empty if they were not
/// recorded by turns.
struct RunTurns {
    std::vector<double> baseline, candidate;
};

/// By turns: on one host, as many runs a side, at least `fewestRunsByTurns`, and of each two that
/// follow each other from the first on, one of each side. What `bench` leaves. O(n log n).
RunTurns runTurns(RunGroup baseline, RunGroup candidate);

}  // namespace lanescope::compare
