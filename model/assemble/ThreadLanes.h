// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "model/assemble/LaneBuilder.h"
#include "model/format/threadStates.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"

namespace lanescope {

struct DomainLanes {
    StringIndex domain = 0;
    std::vector<Lane> lanes;
    uint32_t droppedCount = 0;  ///< Ranges without a lane.
};

/// The recorded states and stacks of a thread.
struct StateLanes {
    std::vector<Lane> states;   ///< States, and below them the calls in which it waited.
    std::vector<Lane> stacks;   ///< A flame graph: callees below callers.
    std::vector<Lane> running;  ///< Running time in one lane, or none if it never ran.
    uint32_t droppedCalls = 0, droppedFrames = 0;
    bool isWorthShowing = false;  ///< The thread ran, or was in a function.
};

struct ThreadLanes {
    std::vector<DomainLanes> domains;  ///< The default domain first, then by number of ranges, code last.
    std::vector<Lane> calls;
    uint32_t droppedCalls = 0;
    Rare<StateLanes> states;
    uint64_t count = 0;  ///< Number of calls and ranges.
    /// One lane of the times in the CUDA API. Without calls: in a range of its last domain. Without either: running.
    std::vector<Lane> busy;
};

/// The names of state slices. Made before the lanes, since strings must not grow while threads read them.
class StateNames {
  public:
    explicit StateNames(Trace& trace);
    StringIndex of(ThreadState state, bool isMixed) const {
        return names_[static_cast<size_t>(state) * 2 + (isMixed ? 1 : 0)];
    }

  private:
    std::array<StringIndex, threadStateCount * 2> names_{};
};

/// Returns the states of a thread. `rows` are its rows of `Trace::cpuStates`. Incomplete if
/// stopped. O(rows and frames of their stacks).
StateLanes stateLanes(const Trace& trace, std::span<const uint32_t> rows, const StateNames& names, StringIndex busy,
                      const std::stop_token& stop);

/// Distributes API calls, NVTX ranges and states over the lanes of their threads, one thread after the other. `busy`
/// names the slices of `ThreadLanes::busy`. Does not change the trace. O(n). If stopped, the result is incomplete.
std::vector<ThreadLanes> collectThreadLanes(const Trace& trace, const StateNames& names, StringIndex busy,
                                            const std::stop_token& stop);

}  // namespace lanescope
