// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"

namespace lanescope::analysis {

/// Returns the order in steps, which are sorted and do not overlap. O(work).
StreamOrder streamOrder(const Trace& trace, const WorkList& work, std::span<const TimeRange> steps);

}  // namespace lanescope::analysis
