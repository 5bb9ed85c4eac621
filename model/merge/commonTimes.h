// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Times of a shared event by one clock.
struct Sighting {
    uint32_t clock = 0;
    int64_t beginNs = 0;  ///< Start here, by this clock.
    int64_t endNs = 0;    ///< End here; it ended everywhere at about that time.
};

/// A collective that ran on several clocks, or another shared event.
struct CommonTime {
    std::vector<Sighting> sightings;  ///< Several of one clock if several of its ranks took part.
    /// It ended nowhere before it had begun everywhere, as holds for a collective in which each
    /// rank needs the data of all others.
    bool isCausal = false;
};

/// A trace to be merged, and the clock of its times.
struct ClockedTrace {
    const Trace* trace = nullptr;
    uint32_t clock = 0;
    int64_t zeroNs = 0;  ///< Its time 0, by that clock.
};

/// Returns the collectives of processes of several clocks, if their GPU work is known: by
/// communicator, operation and NCCL's number. Without numbers the n-th of each, if all have equally
/// many of the same sizes. Evenly thinned if there are very many. O(n log n) in the NCCL calls.
std::vector<CommonTime> commonCollectives(std::span<const ClockedTrace> traces);

/// Returns the messages between processes of two clocks whose GPU work is theirs alone: by
/// communicator, sender and receiver, the n-th with the n-th, if both have equally many of the same
/// sizes. Only those in which one side waited for the other, by duration, since buffered data ends
/// at other times. Evenly thinned if there are very many. O(n log n) in the NCCL calls.
std::vector<CommonTime> commonMessages(std::span<const ClockedTrace> traces);

/// Keeps every n-th by time, so that no more are left than add precision.
std::vector<CommonTime> thinned(std::vector<CommonTime> moments);

/// Returns the starts of steps with the same number on several clocks. O(n log n).
std::vector<CommonTime> commonSteps(std::span<const ClockedTrace> traces);

}  // namespace lanescope
