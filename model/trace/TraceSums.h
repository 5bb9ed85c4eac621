// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Column.h"
#include "model/trace/LaneSums.h"
#include "model/values/Rare.h"

namespace lanescope {

/// How long at least one of several lanes was busy, noted at some moments, so that the time between
/// any two comes from few slices. A single lane needs none: `Lane::busyBefore` says it.
struct UnionSums {
    UnionSums() = default;
    explicit UnionSums(LargeMemory* memory) : timeNs(memory), busyNs(memory) {}

    /// Slices, of all lanes together, from one moment to the next.
    static constexpr uint32_t slicesPerMoment = 1024;

    Column<int64_t> timeNs;  ///< Ascending.
    Column<int64_t> busyNs;  ///< Busy time before that moment.
};

/// What `selectionStatistics` needs besides the slices of a track.
struct TrackSums {
    /// As many as the track has; none where events do not count, or where no lane has so many
    /// slices that sums spare looking at them.
    std::vector<LaneSums> lanes;
    Rare<UnionSums> busy;  ///< Of a stream of several lanes.
};

/// The same for all tracks of a trace, in their order.
struct TraceSums {
    std::vector<TrackSums> tracks;
};

}  // namespace lanescope
