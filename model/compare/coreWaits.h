// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "model/compare/RunSummary.h"
#include "model/trace/ThreadTimes.h"

namespace lanescope::compare {

/// How `threads`, those of a process, lacked cores in its steps, which are in order and do not
/// overlap. What the kernel counted of a time of which a step is a part is shared out evenly.
/// `states` are those of the trace. Nothing where none of them was counted in the steps. O(threads,
/// steps, and states * log steps).
std::optional<CoreWaits> coreWaits(const Trace& trace, const StatesOfThreads& states,
                                   std::span<const uint32_t> threads,
                                   std::span<const TimeRange> steps);

}  // namespace lanescope::compare
