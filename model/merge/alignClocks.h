// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/format/Result.h"
#include "model/merge/fitClocks.h"
#include "model/merge/mergeTraces.h"
#include "model/merge/placeParts.h"

namespace lanescope {

/// How the clocks of several traces read by the first, and how that was found.
struct AlignedClocks {
    struct Clock {
        ClockMethod method = ClockMethod::BaseTime;
        ClockMap map;          ///< From its own time to that of the first.
        int64_t errorNs = -1;  ///< How far that may be off; -1 if nobody knows.
        uint32_t moments = 0;  ///< By which it was found.
        bool isAsSet = false;  ///< It agrees with the first as it is, as far as can be told.
        std::optional<TimeRange> slackNs;    ///< As `FittedClock::slackNs`.
        std::vector<ClockSetting> settings;  ///< As `FittedClock::settings`; by its own time.
    };
    std::vector<Clock> clocks;    ///< As `PlacedParts::clocks`.
    std::vector<int64_t> zeroNs;  ///< When time 0 of each trace was, by its own clock.
    int64_t startUtcNs = 0;       ///< When 0 of the first clock was; 0 if unknown.
    int64_t wholeZeroNs = 0;      ///< When the whole begins, by the first clock.
    uint32_t causalMoments = 0, violations = 0;
    bool hasCollectives = false, hasMessages = false;  ///< Among what clocks share.
    bool isTimeOfDayKnown = true;                      ///< Of every trace.
};

/// Finds how the clocks of the traces read by the first. Errors are those of `mergeTraces`.
Result<AlignedClocks> alignClocks(std::span<const TracePtr> traces, const PlacedParts& placed,
                                  std::optional<ClockMethod> method);

}  // namespace lanescope
