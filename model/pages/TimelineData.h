// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/explain/Explanation.h"
#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/format/optionValues.h"
#include "model/trace/Trace.h"

namespace lanescope::report {

/// Content of a timeline on a page.
struct TimelineRequest {
    /// The part shown with every slice; by default three steps. At most one of the two.
    std::optional<StepRange> steps = {};
    std::optional<TimeRange> time = {};
    bool isAnonymous = false;  ///< Without folders, and without names of hosts and users.
    std::string label = {};    ///< Title of one of several timelines; empty for the title of the trace.
};

/// Returns the numbers of three consecutive steps of the most usual duration; nullopt without steps.
std::optional<StepRange> typicalSteps(const analysis::RunSummary& run);

/// Returns a timeline of a trace for `htmlPage`: the whole run as the pictures of its lanes, a part of it with every
/// slice, its cause and the reasons of gaps, counters, steps, findings and tables. Packed columns in Base64, without
/// markup. Fails if the request selects nothing. O(n log n) in the events.
Result<std::string> timelineHtml(const Trace& trace, const analysis::RunSummary& run,
                                 const explain::Explanation& explanation, const TimelineRequest& request);

/// Returns the page of one trace: its explanation and its timeline. Fails as `timelineHtml` and `summarizeRun` do.
Result<std::string> tracePage(const Trace& trace, const TimelineRequest& request);

}  // namespace lanescope::report
