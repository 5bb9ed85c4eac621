// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Times of a shared event by one clock.
struct Sighting {
    uint32_t clock = 0;
    int64_t beginNs = 0;  ///< Start here, by this clock.
    int64_t endNs = 0;    ///< End here; it ended everywhere at about that time.
};

/// A collective that ran on several clocks, or another shared event.
struct CommonTime {
    std::vector<Sighting> sightings;  ///< Several of one clock if several of its ranks took part.
    /// It ended nowhere before it had begun everywhere, as holds for a collective in which each
    /// rank needs the data of all others.
    bool isCausal = false;
};

/// A trace to be merged, and the clock of its times.
struct ClockedTrace {
    const Trace* trace = nullptr;
    uint32_t clock = 0;
    int64_t zeroNs = 0;  ///< Its time 0, by that clock.
};

/// Returns the collectives of processes of several clocks, if their GPU work is known: by
/// communicator, operation and NCCL's number. Without numbers the n-th of each, if all have equally
/// many of the same sizes. Evenly thinned if there are very many. O(n log n) in the NCCL calls.
std::vector<CommonTime> commonCollectives(std::span<const ClockedTrace> traces);

/// Returns the messages between processes of two clocks whose GPU work is theirs alone: by
/// communicator, sender and receiver, the n-th with the n-th, if both have equally many of the same
/// sizes. Only those in which one side waited for the other, by duration, since buffered data ends
/// at other times. Evenly thinned if there are very many. O(n log n) in the NCCL calls.
std::vector<CommonTime> commonMessages(std::span<const ClockedTrace> traces);

/// Keeps every n-th by time, so that no more are left than add precision.
std::vector<CommonTime> thinned(std::vector<CommonTime> moments);

/// Returns the starts of steps with the same number on several clocks. O(n log n).
std::vector<CommonTime> commonSteps(std::span<const ClockedTrace> traces);

/// Distance of an event's end from the ends by other clocks.
struct ClockDistance {
    int64_t atNs = 0;  ///< By the clock itself.
    double ns = 0;     ///< Positive if it is later than the others.
    auto operator<=>(const ClockDistance&) const = default;
};

/// Accuracy of a clock.
struct FitPrecision {
    /// Known bound of the distance of the true reading from the fitted one, except while the clock was set.
    int64_t errorNs = 0;
    uint32_t moments = 0;  ///< Events shared with others; 0 if nothing is known.
    /// Possible shift, down and up, before something ends that has not begun everywhere; nullopt without causal events.
    std::optional<TimeRange> slackNs;
};

/// Agreement of the clocks.
struct FitQuality {
    int64_t spreadNs = 0;     ///< Typical distance of the ends of one event.
    uint32_t violations = 0;  ///< Causal events that end somewhere before they began everywhere.
    uint32_t causalTimes = 0;
};

/// One clock relative to the first.
struct FittedLine : FitPrecision {
    ClockLine line;
};

struct LineFit : FitQuality {
    std::vector<FittedLine> clocks;
    /// Residuals of each clock, in order of time.
    std::vector<std::vector<ClockDistance>> distances;
};

/// Fits offset and drift of each clock against the first, so that shared events ended together: least squares over all
/// events at once, with small weights for outliers. Then shifts clocks, if possible, so that nothing ends that has not
/// begun everywhere. Without evidence drifts are at most some 50 ppm. Each clock is one line; the error covers
/// deviations from it. Assumes that no clock's ranks always end later than others. O(moments * sightings + clocks^3).
LineFit fitLines(uint32_t clockCount, const std::vector<CommonTime>& moments);

struct ClockSetting {
    /// The last event before and the first one after, by the clock. The exact time is unknown, and
    /// readings between them may be wrong by `byNs`.
    int64_t afterNs = 0, beforeNs = 0;
    int64_t byNs = 0;  ///< Increase of its reading.
};

/// One clock relative to the first.
struct FittedClock : FitPrecision {
    ClockMap map;
    std::vector<ClockSetting> settings;  ///< One for each of the later pieces of `map`.
};

struct ClockFit : FitQuality {
    std::vector<FittedClock> clocks;
};

/// Fits each clock relative to the first, as that was in the beginning: a line (`fitLines`), or
/// several if a clock was set meanwhile (`findSetting`). A setting is assumed only if the events do
/// not fit as well without it. O(settings * (moments * sightings + clocks^3)).
ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonTime>& moments);

}  // namespace lanescope
