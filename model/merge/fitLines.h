// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/merge/commonMoments.h"

namespace lanescope {

/// How far the end of a moment lies from the ends that others say.
struct ClockDistance {
    int64_t atNs = 0;  ///< By the clock itself.
    double ns = 0;     ///< Positive: it says later than the others.
    auto operator<=>(const ClockDistance&) const = default;
};

/// One clock by the first of them.
struct FittedLine {
    ClockLine line;
    int64_t errorNs = 0;   ///< The true reading lies within this of `line`, as far as is known.
    uint32_t moments = 0;  ///< That it shares with others; 0: nothing is known of it.
    /// By how much it may be shifted, down and up, before something ends that has not begun
    /// everywhere; nothing without causal moments.
    std::optional<TimeRange> slackNs;
};

struct LineFit {
    std::vector<FittedLine> clocks;
    /// Of each clock, in order of time: what is left when all lines are known.
    std::vector<std::vector<ClockDistance>> distances;
    int64_t spreadNs = 0;     ///< How far the ends of one moment lie apart, typically.
    uint32_t violations = 0;  ///< Causal moments that end somewhere before they began everywhere.
    uint32_t causalMoments = 0;
};

/// Finds offset and drift of each clock against the first, so that what all saw together ended
/// together: least squares over all moments at once, in which moments that fit badly count little;
/// then no clock is left where something would end that has not begun everywhere, if it can be
/// helped. Drifts are taken to be some 50 ppm at most where moments do not tell. Each clock is one
/// line: of one that is none the error says by how much. It takes no clock's ranks to end always
/// later than others. O(moments * sightings + clocks^3).
LineFit fitLines(uint32_t clockCount, const std::vector<CommonMoment>& moments);

}  // namespace lanescope
