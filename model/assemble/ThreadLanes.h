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

/// The ranges of one NVTX domain on one thread.
struct DomainLanes {
    StringIndex domain = 0;
    std::vector<Lane> lanes;
    uint32_t droppedCount = 0;  ///< Ranges that found no lane.
};

/// What a thread was seen to do, and where it stood.
struct StateLanes {
    std::vector<Lane> states;   ///< What it did, and below that calls that it waited in.
    std::vector<Lane> stacks;   ///< A flame: a function called by another below that.
    std::vector<Lane> running;  ///< When it ran; one lane, or none if it did not.
    uint32_t droppedCalls = 0, droppedFrames = 0;
    bool isWorthShowing = false;  ///< It ran, or stood in a function.
};

/// What a thread did, before it becomes tracks.
struct ThreadLanes {
    std::vector<DomainLanes>
        domains;  ///< The default one first, then by number of ranges, code last.
    std::vector<Lane> calls;
    uint32_t droppedCalls = 0;
    Rare<StateLanes> states;
    uint64_t count = 0;  ///< Of calls and ranges.
    /// When the thread was in the CUDA API; when in a range of its last domain, if it made no
    /// calls; when it ran, if it called nothing. One lane.
    std::vector<Lane> busy;
};

/// What slices of states are called; made before lanes are, since strings must not grow meanwhile.
class StateNames {
  public:
    explicit StateNames(Trace& trace);
    StringIndex of(ThreadState state, bool isMixed) const {
        return names_[static_cast<size_t>(state) * 2 + (isMixed ? 1 : 0)];
    }

  private:
    std::array<StringIndex, threadStateCount * 2> names_{};
};

/// The states of a thread; `rows` are its own of `Trace::cpuStates`. Not all if stopped. O(rows,
/// and frames of their stacks).
StateLanes stateLanes(const Trace& trace, std::span<const uint32_t> rows, const StateNames& names,
                      StringIndex busy, const std::stop_token& stop);

/// Deals API calls, NVTX ranges and states out to lanes of their threads, one after the other.
/// `busy` is what to call the slices of `ThreadLanes::busy`. Changes nothing of the trace. O(n).
/// Stopped, it leaves events out.
std::vector<ThreadLanes> collectThreadLanes(const Trace& trace, const StateNames& names,
                                            StringIndex busy, const std::stop_token& stop);

}  // namespace lanescope
