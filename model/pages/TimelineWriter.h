// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/analysis/IdleCauses.h"
#include "model/format/TimeRange.h"
#include "model/pages/NameFilter.h"
#include "model/trace/Trace.h"

namespace lanescope::report {

/// Returns the data of a timeline: `description` and the tracks as JSON, then the columns of their slices, gaps and
/// counters. `full` is the part with every slice; `gaps` may be null. `timelineData.js` reads the same layout. O(n).
std::string packedTimeline(const Trace& trace, TimeRange full, const NameFilter& filter, const analysis::IdleGaps* gaps,
                           nlohmann::ordered_json description);

}  // namespace lanescope::report
