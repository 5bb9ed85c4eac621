// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "model/explain/Explanation.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::explain {

/// Place of a finding in the trace.
struct FindingPlace {
    TimeRange step;  ///< The shown step; the place itself between steps.
    TimeRange
        range;  ///< The gap, the work or the time that is the finding there; the whole step if there is no single one.
    TimeRange view;  ///< Shows the range in its step; a part of the step if the range would be invisible in it.
    /// The work that takes the time; invalid for idle time and if unknown.
    EventRef event;
    bool isGap = false;                 ///< `range` is a gap of the GPU.
    std::optional<uint32_t> stepIndex;  ///< In `WorkerSummary::steps`.
};

/// Returns an example of a finding, one of the most expensive: the gap before late work, the copy, the collective for
/// which the other ranks wait, or the place of its rule (`Rule::place`). A finding about single steps has its place in
/// one of these, others elsewhere where possible. No two of `all`, the findings of the explanation in their order, have
/// the same range. Fails if the trace is not that of the summary, which was made with the default selection. O(n log n)
/// in the events of its worker for each finding up to it, of all workers for a late rank; any thread.
Result<FindingPlace> placeOf(const Trace& trace, const analysis::RunSummary& run, const Finding& finding,
                             std::span<const Finding> all = {});

}  // namespace lanescope::explain
