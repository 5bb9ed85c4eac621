// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// What one clock says of something that all clocks saw together.
struct Sighting {
    uint32_t clock = 0;
    int64_t beginNs = 0;  ///< When it began here, by this clock.
    int64_t endNs = 0;    ///< When it ended; about then it ended everywhere.
};

/// A collective that ran on several clocks, or another moment that they share.
struct CommonMoment {
    std::vector<Sighting> sightings;  ///< Several of one clock if several of its ranks took part.
    /// Whether it ended nowhere before it had begun everywhere, as is so of a collective in which
    /// each rank needs what all others have.
    bool isCausal = false;
};

/// A trace that is to become a part of another, and the clock that its times are of.
struct ClockedTrace {
    const Trace* trace = nullptr;
    uint32_t clock = 0;
    int64_t zeroNs = 0;  ///< When its time 0 was, by that clock.
};

/// The collectives in which processes of several clocks took part, as far as their work on the GPU
/// is known: by communicator, operation and NCCL's number; where there are no numbers the n-th of
/// each, if all have as many of the same sizes. Evenly chosen if they are very many. O(n log n) in
/// the NCCL calls.
std::vector<CommonMoment> commonCollectives(std::span<const ClockedTrace> traces);

/// The messages between processes of two clocks, as far as their work on the GPU is theirs alone:
/// by communicator, sender and receiver, the n-th with the n-th, if both have as many of the same
/// sizes. Only those in which one waited for the other, by how long it took: what NCCL may keep in
/// a buffer ends at other times. Evenly chosen if they are very many. O(n log n) in the NCCL calls.
std::vector<CommonMoment> commonMessages(std::span<const ClockedTrace> traces);

/// Every so many by time, so that not more are left than tell anything new.
std::vector<CommonMoment> thinned(std::vector<CommonMoment> moments);

/// The beginnings of steps that have the same number on several clocks. O(n log n).
std::vector<CommonMoment> commonSteps(std::span<const ClockedTrace> traces);

}  // namespace lanescope
