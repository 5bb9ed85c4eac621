// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/explain/Explanation.h"

namespace lanescope::explain {

/// Returns the MFU of the workers of an explanation as a clause: "MFU 41.2 % of the measured bf16 peak by tensor
/// activity, over 12 steps". Empty if no worker has one, or if all are below `minReportedMfu`.
std::string useClause(const analysis::RunSummary& run, const std::vector<WorkerParts>& workers);
/// A program that computes nothing on tensor cores has no use for a number.
inline constexpr double minReportedMfu = 0.005;

/// Returns "41.2 %", and with repeated operations "41.2 %, HFU 48.0 %"; empty if unknown or below `minReportedMfu`.
std::string useText(const analysis::ComputeUse& use);

}  // namespace lanescope::explain
