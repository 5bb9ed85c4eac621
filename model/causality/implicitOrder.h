// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/LaunchLinks.h"
#include "model/trace/Trace.h"

namespace lanescope::causality {

// Order of work that no event of a trace states, derived from all work of a window.

/// Returns for each stream whether its kernels and those of the default stream of its context wait for each other:
/// `minChances` of them were launched while the other stream worked, and none overlapped. A stream with fewer chances
/// is like the others of its context. O(kernels).
std::vector<bool> streamsOrderedWithDefault(const Trace& trace, const LaunchRows& launches, TimeRange window);
inline constexpr uint32_t minChances = 8;
/// Streams and threads of a process that are compared with each other. A file may have any number.
inline constexpr size_t maxSubjects = 128;

/// Returns for each process the number of launches that may be under way: long launching calls return when so many
/// are. 0 if none waited. `firstCall` and `endCall` are rows of `ApiTable`. O(calls and work).
std::vector<uint32_t> queueLimits(const Trace& trace, const LaunchRows& launches, uint32_t firstCall, uint32_t endCall);

}  // namespace lanescope::causality
