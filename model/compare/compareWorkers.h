#pragma once

#include "model/compare/RunComparison.h"

namespace lanescope {

/// Two workers against each other: distributions, claim, parts, contributors, ranges. The indices
/// of the workers are left to the caller.
WorkerComparison compareWorkers(const WorkerSummary& baseline, const WorkerSummary& candidate);

}  // namespace lanescope
