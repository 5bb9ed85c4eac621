// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "model/causality/CausalGraph.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Trace.h"

namespace lanescope::causality {

/// Knowledge about a trace that the builder needs from its caller. All members outlive the call.
struct CausalInput {
    const Trace& trace;
    const StatesOfThreads& states;
    std::span<const uint32_t> places;  ///< `ownPlaces` of the trace.
    /// Returns true if a thread gets the next batch in this time; null if unknown.
    std::function<bool(uint32_t thread, TimeRange time)> isLoading = {};
};

/// Returns the causes of the calls and the work that start in `window`.
///
/// - A thread runs its calls and the host code between them in order. It starts after another thread that hands over.
/// - Work starts after the end of its launching call, after earlier work of its stream, after the work of events for
///   which its stream waits, and after the default stream if its stream never overlaps with that.
/// - Work of a graph starts after the work of the same launch that ended before.
/// - A call returns after the work for which it waits. A launch waits for a place in a full queue.
/// - A collective moves data when all ranks have entered.
/// - A thread that waits for a batch continues when the batch is there. Batches come at recorded intervals.
///
/// An edge delays its node by one number per kind of edge for the whole window, the mean where the edge is the only
/// possible cause, or by less if the node was recorded earlier. A longer delay in the recording has no known cause and
/// is dropped. O(n log n) in calls and work; any thread.
CausalGraph buildCausalGraph(const CausalInput& input, TimeRange window);

/// Longer delays of work have another cause: a generous bound of a launch on an idle GPU.
inline constexpr int64_t maxWorkDelayNs = 10'000;

/// Sets delays and own times, as described above, in a graph whose delays are those of the recording. O(nodes + edges).
void setTypicalDelays(CausalGraph& graph);

}  // namespace lanescope::causality
