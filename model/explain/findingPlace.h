// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/explain/Explanation.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::explain {

/// Where to look for a finding.
struct FindingPlace {
    TimeRange step;   ///< The step that it is worst in.
    TimeRange range;  ///< The worst piece of time in that step; the step if none is told apart.
    /// The GPU work that took it, or that the idle GPU waited for; invalid if not known.
    EventRef event;
};

/// Where a finding costs most: the longest piece of what it is mostly about within the compared
/// steps, of odd steps within the longest; of a throttled GPU the longest time in which it ran
/// slower for the reasons found. Fails if the trace is not that of the summary, which was
/// made with the default selection. O(n log n) in the events of its worker; any thread.
Result<FindingPlace> placeOf(const Trace& trace, const analysis::RunSummary& run,
                             const Finding& finding);

/// A query of the trace file that shows what a finding of `run` is about: that of its rule, or one
/// that asks for the steps, ranges or copies of this run. Empty if none does.
std::string queryOf(const analysis::RunSummary& run, const Finding& finding);

}  // namespace lanescope::explain
