// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/explain/Explanation.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::explain {

/// Place of a finding in the trace.
struct FindingPlace {
    TimeRange step;   ///< The most affected step.
    TimeRange range;  ///< The worst time in that step; the whole step if there is no single one.
    /// The GPU work that took it, or that the idle GPU waited for; invalid if unknown.
    EventRef event;
};

/// Returns the most expensive place of a finding: that of its rule (`Rule::place`), else the
/// longest piece of its contributor within the compared steps, or within the named step for
/// findings about single steps. Fails if the trace is not that of the summary, which was made with
/// the default selection. O(n log n) in the events of its worker; any thread.
Result<FindingPlace> placeOf(const Trace& trace, const analysis::RunSummary& run, const Finding& finding);

}  // namespace lanescope::explain
