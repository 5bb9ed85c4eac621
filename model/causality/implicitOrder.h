// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/trace/LaunchLinks.h"
#include "model/trace/ThreadTimes.h"
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

/// A call that its thread made after a call of another thread for which it had waited.
struct HandOver {
    uint32_t call = 0, cause = 0;  ///< Rows of `ApiTable`.
};

/// Returns the calls in `[firstCall, endCall)` before which their thread waited for another thread of its process, by
/// call. A thread waits if its states say so. Without states, it waits if the threads of the process alternate in long
/// runs of calls, as with a backward pass. The cause is the last call of the other thread. O(calls log n).
std::vector<HandOver> findHandOvers(const Trace& trace, const StatesOfThreads& states, uint32_t firstCall,
                                    uint32_t endCall);

/// Returns true if a thread waits for something other than a core, a disk or the end of its sleep.
bool isWaitingForOthers(ThreadState state);
/// Returns true if a thread does so most of a time; nullopt if unknown. O(log n + states in it).
std::optional<bool> isMostlyWaiting(const StatesOfThreads& states, uint32_t thread, TimeRange time);

/// Returns the share of its time between calls in which a thread ran or was ready to, by the kernel's count for a row
/// of `Trace::cpuStates`. A lower bound: calls count as if they ran all their time. O(calls in the row).
double ranShareBetweenCalls(const Trace& trace, uint32_t row);

}  // namespace lanescope::causality
