// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "model/compare/RunSummary.h"
#include "model/trace/ThreadTimes.h"

namespace lanescope::compare {

/// What the data loaders of a process did in its steps, which are in order and do not overlap:
/// threads of processes that it started, also by way of others that are no other rank, which are
/// called as those that load data or were seen in PyTorch's loader; if there are none, its own
/// threads of such a name. `states` are those of the trace. O(states of threads).
LoaderTimes loaderTimes(const Trace& trace, const StatesOfThreads& states, uint32_t process,
                        std::span<const TimeRange> steps);

}  // namespace lanescope::compare
