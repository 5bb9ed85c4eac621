// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/merge/commonTimes.h"

namespace lanescope {

/// Distance of an event's end from the ends by other clocks.
struct ClockDistance {
    int64_t atNs = 0;  ///< By the clock itself.
    double ns = 0;     ///< Positive if it is later than the others.
    auto operator<=>(const ClockDistance&) const = default;
};

/// One clock relative to the first.
struct FittedLine {
    ClockLine line;
    int64_t errorNs = 0;   ///< Known bound of the distance of the true reading from `line`.
    uint32_t moments = 0;  ///< Events shared with others; 0 if nothing is known.
    /// Possible shift, down and up, before something ends that has not begun everywhere; nullopt without causal events.
    std::optional<TimeRange> slackNs;
};

struct LineFit {
    std::vector<FittedLine> clocks;
    /// Residuals of each clock, in order of time.
    std::vector<std::vector<ClockDistance>> distances;
    int64_t spreadNs = 0;     ///< Typical distance of the ends of one event.
    uint32_t violations = 0;  ///< Causal events that end somewhere before they began everywhere.
    uint32_t causalTimes = 0;
};

/// Fits offset and drift of each clock against the first, so that shared events ended together: least squares over all
/// events at once, with small weights for outliers. Then shifts clocks, if possible, so that nothing ends that has not
/// begun everywhere. Without evidence drifts are at most some 50 ppm. Each clock is one line; the error covers
/// deviations from it. Assumes that no clock's ranks always end later than others. O(moments * sightings + clocks^3).
LineFit fitLines(uint32_t clockCount, const std::vector<CommonTime>& moments);

/// A setting of a clock.
struct ClockSetting {
    /// The last event before and the first one after, by the clock. The exact time is unknown, and
    /// readings between them may be wrong by `byNs`.
    int64_t afterNs = 0, beforeNs = 0;
    int64_t byNs = 0;  ///< Increase of its reading.
};

/// One clock relative to the first.
struct FittedClock {
    ClockMap map;
    /// Known bound of the distance of the true reading from `map`, except while it was set.
    int64_t errorNs = 0;
    uint32_t moments = 0;  ///< Events shared with others; 0 if nothing is known.
    /// Possible shift, down and up, before something ends that has not begun everywhere; nullopt without causal events.
    std::optional<TimeRange> slackNs;
    std::vector<ClockSetting> settings;  ///< One for each of the later pieces of `map`.
};

struct ClockFit {
    std::vector<FittedClock> clocks;
    int64_t spreadNs = 0;     ///< Typical distance of the ends of one event.
    uint32_t violations = 0;  ///< Causal events that end somewhere before they began everywhere.
    uint32_t causalTimes = 0;
};

/// Fits each clock relative to the first, as that was in the beginning: a line (`fitLines`), or
/// several if a clock was set meanwhile (`findSetting`). A setting is assumed only if the events do
/// not fit as well without it. O(settings * (moments * sightings + clocks^3)).
ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonTime>& moments);

}  // namespace lanescope
