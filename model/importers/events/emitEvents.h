// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/ImportedIdentities.h"

namespace lanescope {

struct EmitContext {
    ImportedEvents& events;
    ImportedIdentities& identities;
    TraceBuilder& builder;
    int64_t zeroNs = 0;  ///< The zero of the trace on the clock of the file.
    int rank = -1;       ///< Rank of the process, or -1 if unknown.
};

/// Inconsistencies found while emitting.
struct EmitFindings {
    int64_t workWithoutCall = 0;
    int64_t launches = 0;  ///< Calls that launch work.
    int64_t callsWithoutWork = 0;
    int64_t callsWithoutWorkBetween = 0;     ///< Calls before the last one with work.
    int64_t overlaps = 0, maxOverlapNs = 0;  ///< Overlaps of work on one stream.
    int64_t unmatchedEdges = 0;              ///< Ends of ranges that never began.
    int64_t unmatchedFlowEnds = 0;           ///< Without their other end or an operator.
    int64_t unmatchedBackwards = 0;          ///< Backward operators without their forward.
};

// Each function emits events of some kinds and frees those that no later one needs, in the order below. O(n log n).

void checkWork(EmitContext& output, EmitFindings& findings);
void emitGpuWork(EmitContext& output);
void emitCalls(EmitContext& output);
/// Emits annotations, operators with their collective operations and backwards, Python functions and others.
void emitRanges(EmitContext& output, EmitFindings& findings);
/// Connects operators with their backward. The operators are the rows `[first, end)` of the ranges.
/// Flow ends and sequence numbers refer to these rows and are freed.
void emitBackwards(EmitContext& output, EmitFindings& findings, uint32_t first, uint32_t end);
void emitEdges(EmitContext& output, EmitFindings& findings);
void emitCounters(EmitContext& output);

/// Calls all of these. `isWanted` gets fractions in [0, 1]. Once it returns false, the rest is skipped.
void emitEvents(EmitContext& output, EmitFindings& findings, const std::function<bool(double)>& isWanted);

}  // namespace lanescope
