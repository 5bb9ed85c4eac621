// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::compare {

/// A track of the baseline and the track of the candidate that shows the same thing; one of them is
/// `noIndex` where the other run has nothing like it.
struct TrackPair {
    uint32_t baseline = noIndex;
    uint32_t candidate = noIndex;
    bool operator==(const TrackPair&) const = default;
};

/// Every track of both traces once, so that the tracks of each run stand in their own order and
/// what belongs together in one pair. GPUs pair by number, processes by rank, else by name; streams
/// by number, threads by title, and those left over in order of place if they do the same kind of
/// work. O(n * m) in the children of one track, linear otherwise; any thread.
std::vector<TrackPair> pairTracks(const Trace& baseline, const Trace& candidate);

}  // namespace lanescope::compare
