// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "model/compare/RunSummary.h"
#include "model/trace/Trace.h"

namespace lanescope::compare {

/// How the threads of a process lacked cores in its steps, which are in order and do not overlap.
/// What the kernel counted of a time of which a step is a part is shared out evenly. Nothing where
/// nobody looked at its threads. O(states of threads, times log steps).
std::optional<CoreWaits> coreWaits(const Trace& trace, uint32_t process,
                                   std::span<const TimeRange> steps);

}  // namespace lanescope::compare
