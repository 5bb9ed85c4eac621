// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/explain/findingPlace.h"
#include "model/format/Result.h"
#include "model/pages/TimelineData.h"

namespace lanescope::report {

/// Part of a run with every slice.
struct FullPart {
    TimeRange range;
    std::string what;
};

/// Returns the requested part of a run, or three steps around `place`, that of the largest finding. Fails for steps or
/// a time that the trace does not have, and for more slices than a page can have. O(n log n) in the events.
Result<FullPart> fullPartOf(const Trace& trace, const analysis::RunSummary& run,
                            const explain::Explanation& explanation, const std::optional<explain::FindingPlace>& place,
                            const TimelineRequest& request);

}  // namespace lanescope::report
