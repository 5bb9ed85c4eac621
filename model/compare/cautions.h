// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// The GPUs that worked, of one name together: "2 x NVIDIA H200".
std::string gpusText(const SummaryFacts& facts);

/// What makes a comparison of two runs doubtful, weightiest first: differences in what they ran on
/// and in how they were recorded, and what either trace lost.
std::vector<std::string> cautionsOf(const RunSummary& baseline, const RunSummary& candidate);

}  // namespace lanescope::compare
