// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/compare/GpuWork.h"
#include "model/compare/RunSummary.h"
#include "model/compare/workPlaces.h"

namespace lanescope::compare {

/// The calls that launched the kernels that begin in `windows` (sorted, without overlaps). `work`
/// is by start. Nothing where the trace has no calls. O(n log n) in the kernels.
LaunchTimes launchTimes(const Trace& trace, std::span<const TimeRange> windows,
                        std::span<const GpuWork> work, const WorkPlaces& places);

}  // namespace lanescope::compare
