// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/compare/Collectives.h"
#include "model/compare/LaunchingCalls.h"
#include "model/compare/RangePaths.h"
#include "model/steps/StepSelection.h"
#include "model/trace/CollectiveWaits.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/WorkRows.h"

namespace lanescope::compare {

/// What is worked out once for all workers of a run. Immutable; refers to the trace, which must
/// outlive it.
struct RunContext {
    /// `steps` are those of the trace. O(n log n) in the events.
    RunContext(const Trace& trace, const RunSteps& steps);
    RunContext(const RunContext&) = delete;
    RunContext& operator=(const RunContext&) = delete;

    /// The path of `thread` at that moment; if it has none, that of the thread with the steps.
    RangePaths::Id pathAt(uint32_t thread, uint32_t stepThread, int64_t timeNs) const {
        const RangePaths::Id path = paths.at(thread, timeNs);
        return path != 0 ? path : paths.at(stepThread, timeNs);
    }

    const Trace& trace;
    const LaunchingCalls calls;
    const RangePaths paths;
    const CollectiveWaits waits;
    const Collectives collectives;
    const WorkRows rows;
    const StatesOfThreads states;
    const StepKind stepKind;
};

}  // namespace lanescope::compare
