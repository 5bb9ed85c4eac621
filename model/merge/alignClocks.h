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

/// Alignment of the clocks of several traces to the first, and its evidence.
struct AlignedClocks {
    struct Clock {
        ClockMethod method = ClockMethod::BaseTime;
        ClockMap map;                      ///< From its own time to that of the first.
        int64_t errorNs = -1;              ///< Maximum error; -1 if unknown.
        uint32_t moments = 0;              ///< Shared events used.
        bool isAsSet = false;              ///< It agrees with the first without correction, within the known precision.
        std::optional<TimeRange> slackNs;  ///< As `FittedClock::slackNs`.
        std::vector<ClockSetting> settings;  ///< As `FittedClock::settings`; by its own time.
    };
    std::vector<Clock> clocks;    ///< As `PlacedParts::clocks`.
    std::vector<int64_t> zeroNs;  ///< Time 0 of each trace, by its own clock.
    int64_t startUtcNs = 0;       ///< Time 0 of the first clock; 0 if unknown.
    int64_t wholeZeroNs = 0;      ///< Start of the whole, by the first clock.
    uint32_t causalTimes = 0, violations = 0;
    bool hasCollectives = false, hasMessages = false;  ///< Among the shared events.
    bool isTimeOfDayKnown = true;                      ///< For every trace.
};

/// Aligns the clocks of the traces to the first. Errors are those of `mergeTraces`.
Result<AlignedClocks> alignClocks(std::span<const TracePtr> traces, const PlacedParts& placed,
                                  std::optional<ClockMethod> method);

}  // namespace lanescope
