// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "model/importers/events/ForeignEvents.h"
#include "model/importers/events/ForeignIdentities.h"

namespace lanescope {

/// What a JSON trace gives to a trace, beside the events.
struct JsonGiving {
    JsonEvents& events;
    JsonIdentities& identities;
    TraceBuilder& builder;
    int64_t zeroNs = 0;  ///< Of the trace, on the clock of the file.
    int rank = -1;       ///< Of the process among all ranks; -1 if not known.
};

/// What was found on the way.
struct JsonFindings {
    int64_t workWithoutCall = 0, callsWithoutWork = 0;
    int64_t overlaps = 0, longestOverlapNs = 0;  ///< Of work on one stream.
    int64_t edgesWithoutOther = 0;               ///< Ends of ranges that never began.
    int64_t arrowEndsLeft = 0;  ///< Of arrows to a backward: without the other end, or an operator.
    int64_t backwardsAlone = 0;  ///< Operators that are a backward, without their forward.
};

// Each gives the events of some kinds to the builder, and lets go of those that no other needs.
// O(n log n). The order is that below.

/// Looks how work and calls fit together.
void lookAtWork(JsonGiving& giving, JsonFindings& findings);
void giveGpuWork(JsonGiving& giving);
void giveCalls(JsonGiving& giving);
/// Annotations, operators and with them collective operations and what is the backward of what,
/// Python functions and all others.
void giveRanges(JsonGiving& giving, JsonFindings& findings);
/// Which operators are the backward of which: of the rows `[first, end)` of the ranges, which are
/// the operators. What is said of them has their rows as slices, and is let go of.
void giveBackwards(JsonGiving& giving, JsonFindings& findings, uint32_t first, uint32_t end);
void giveEdges(JsonGiving& giving, JsonFindings& findings);
void giveCounters(JsonGiving& giving);

/// All of these. `isWanted` hears fractions in [0, 1]; once it answers false, the rest is left out.
void giveEvents(JsonGiving& giving, JsonFindings& findings,
                const std::function<bool(double)>& isWanted);

}  // namespace lanescope
