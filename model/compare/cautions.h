// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// The GPUs that worked, of one name together: "2 x NVIDIA H200".
std::string gpusText(const SummaryFacts& facts);

/// In what the machines differed on which two runs ran: "driver", "SM clock"; empty for nothing
/// that is known.
std::vector<std::string_view> machineDifferences(const SummaryFacts& baseline,
                                                 const SummaryFacts& candidate);

/// What makes a comparison of two runs doubtful, weightiest first: differences in what they ran on
/// and in how they were recorded, and what either trace lost.
std::vector<std::string> cautionsOf(const RunSummary& baseline, const RunSummary& candidate);

}  // namespace lanescope::compare
