// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/text/formatValue.h"

namespace lanescope::report {

/// Content of a report of `lanescope explain`.
struct ExplanationReport {
    analysis::RunSummary run;
    explain::Explanation explanation;
    size_t lineWidth = defaultLineWidth;  ///< Width of text.
};

/// Returns text for people, at most `lineWidth` wide unless a name or number is longer.
std::string explanationAsText(const ExplanationReport& report);
/// Returns a page as `comparisonAsHtml` does; everything from the trace is escaped.
std::string explanationAsHtml(const ExplanationReport& report);
/// Returns JSON for programs; resources/manual/explain.md has the schema. Always valid UTF-8.
std::string explanationAsJson(const ExplanationReport& report);

/// Returns at most `most` workers to show side by side: all, or the first ones and the one that the others wait for.
std::vector<const explain::WorkerParts*> workersShown(const ExplanationReport& report, size_t most);

/// Returns the parts with time in any of them.
std::vector<analysis::StepPart> partsShown(const std::vector<const explain::WorkerParts*>& workers);

/// Returns the unit of all times of an explanation.
DurationScale scaleOf(const ExplanationReport& report);

/// Returns the title of the parts: "Mean step", or "Run".
std::string_view partsTitleOf(const ExplanationReport& report);

/// Returns "launch_bound, up to 25.400 ms per step".
std::string headingOf(const ExplanationReport& report, const explain::Finding& finding);

}  // namespace lanescope::report
