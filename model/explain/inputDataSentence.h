// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// Of a step, or of what is told of one: less is not worth a sentence.
inline constexpr double leastShareTold = 0.03;

/// "The GPU waits 14 ms of a step (42 %) for the next batch: mostly ...", and how much of that is a
/// guess, as nothing but what came next says that the CPU was getting data.
std::string inputDataSentence(const compare::WorkerSummary& worker, const std::string& time,
                              const std::string& mostly);

/// Whether nearly all of that time is such a guess.
bool isDataMostlyGuessed(const compare::WorkerSummary& worker);

}  // namespace lanescope::explain
