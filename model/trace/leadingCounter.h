// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/trace/Trace.h"

namespace lanescope {

/// The counter that a `CounterGroup` shows while it is folded, the first in it; `noIndex` if that
/// is none that can be drawn as a graph, and for other tracks. O(1).
inline uint32_t leadingCounter(const Trace& trace, uint32_t group) {
    const size_t first = size_t{group} + 1;
    if (first >= trace.tracks.size()) return noIndex;
    const Track& track = trace.tracks[first];
    const bool leads = trace.tracks[group].kind == TrackKind::CounterGroup &&
                       track.parent == static_cast<int64_t>(group) &&
                       track.kind == TrackKind::Counter;
    return leads ? track.subject : noIndex;
}

}  // namespace lanescope
