// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/merge/commonMoments.h"

namespace lanescope {

/// That a clock was set.
struct ClockSetting {
    /// The last moment before and the first one after, by the clock: nobody knows when in between,
    /// and what it showed there may be off by `byNs`.
    int64_t afterNs = 0, beforeNs = 0;
    int64_t byNs = 0;  ///< By how much more it showed then.
};

/// One clock by the first of them.
struct FittedClock {
    ClockMap map;
    /// The true reading lies within this of `map`, as far as is known, but while it was set.
    int64_t errorNs = 0;
    uint32_t moments = 0;  ///< That it shares with others; 0: nothing is known of it.
    /// By how much it may be shifted, down and up, before something ends that has not begun
    /// everywhere; nothing without causal moments.
    std::optional<TimeRange> slackNs;
    std::vector<ClockSetting> settings;  ///< One for each of the later pieces of `map`.
};

struct ClockFit {
    std::vector<FittedClock> clocks;
    int64_t spreadNs = 0;     ///< How far the ends of one moment lie apart, typically.
    uint32_t violations = 0;  ///< Causal moments that end somewhere before they began everywhere.
    uint32_t causalMoments = 0;
};

/// Finds how each clock reads by the first, as that was in the beginning: a line (`fitLines`), or
/// several where a clock was set meanwhile (`findSetting`). Nobody is said to be set without whom
/// the moments fit as well. O(settings * (moments * sightings + clocks^3)).
ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonMoment>& moments);

}  // namespace lanescope
