// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "model/compare/RunSummary.h"
#include "model/format/TimeRange.h"

namespace lanescope::explain {

/// What a timeline is to begin with: a few steps in a row of the worker that the others wait for,
/// as near to its median step as there are, the earliest of equals. Nothing if the run has no
/// steps, or only itself. O(steps).
std::optional<TimeRange> steadySteps(const compare::RunSummary& run);
inline constexpr size_t steadyStepCount = 5;

}  // namespace lanescope::explain
