// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/build/PartPlacement.h"

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

/// One clock by the first of them.
struct FittedClock {
    ClockMap map;
    int64_t errorNs = 0;   ///< The true reading lies within this of `map`, as far as is known.
    uint32_t moments = 0;  ///< That it shares with others; 0: nothing is known of it.
    /// By how much it may be shifted, down and up, before something ends that has not begun
    /// everywhere; nothing without causal moments.
    std::optional<TimeRange> slackNs;
};

struct ClockFit {
    std::vector<FittedClock> clocks;
    int64_t spreadNs = 0;     ///< How far the ends of one moment lie apart, typically.
    uint32_t violations = 0;  ///< Causal moments that end somewhere before they began everywhere.
    uint32_t causalMoments = 0;
};

/// Finds offset and drift of each clock against the first, so that what all saw together ended
/// together: least squares over all moments at once, in which moments that fit badly count little;
/// then no clock is left where something would end that has not begun everywhere, if it can be
/// helped. Drifts are taken to be some 50 ppm at most where moments do not tell. Each clock is one
/// line: of one that was set meanwhile the error says by how much. It takes no clock's ranks to end
/// always later than others.
/// O(moments * sightings + clocks^3).
ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonMoment>& moments);

}  // namespace lanescope
