#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/compare/Comparison.h"

namespace lanescope {

/// Finds what both runs repeat and spend most time in: of the outermost NVTX ranges, by pattern
/// ("step #"), those with at least three instances on each side. NCCL's own ranges do not count. Nothing
/// if the runs share none. O(n log n) in the ranges.
std::optional<StepPace> stepPace(const Baseline& baseline, const Candidate& candidate);

}  // namespace lanescope
