// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace lanescope
