// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/compare/GpuWork.h"
#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// For how long at least, between steps that are requests, the thread that launches what comes next
/// waited while the GPU had no work, and where most of that time. `steps` are in order and do not
/// overlap, `work` is sorted by start. O(work + steps * log n) and the states between them.
RestBetween restBetween(const RunContext& run, std::span<const TimeRange> steps,
                        const LargeVector<GpuWork>& work);

}  // namespace lanescope::compare
