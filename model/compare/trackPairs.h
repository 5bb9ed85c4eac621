// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::compare {

/// A track of the baseline and the corresponding track of the candidate; one of them is `noIndex`
/// if the other run has no such track.
struct TrackPair {
    uint32_t baseline = noIndex;
    uint32_t candidate = noIndex;
    bool operator==(const TrackPair&) const = default;
};

/// Returns every track of both traces once, so that the tracks of each run keep their order and
/// corresponding ones are in one pair. GPUs are paired by number, processes by rank, else by name,
/// streams by number, threads by title. The remaining ones are paired in order of place if they do
/// the same kind of work. O(n * m) in the children of one track, linear otherwise; any thread.
std::vector<TrackPair> pairTracks(const Trace& baseline, const Trace& candidate);

}  // namespace lanescope::compare
