#pragma once

#include <vector>

#include "model/select/LaneSums.h"
#include "model/select/UnionSums.h"

namespace lanescope {

/// What `selectionStatistics` needs besides the slices of a track.
struct TrackSums {
    std::vector<LaneSums> lanes;  ///< As many as the track has; empty where events do not count.
    UnionSums busy;
};

/// The same for all tracks of a trace, in their order.
struct TraceSums {
    std::vector<TrackSums> tracks;
};

}  // namespace lanescope
