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

/// All that `lanescope explain` has to say of a run.
struct ExplanationReport {
    analysis::RunSummary run;
    explain::Explanation explanation;
    size_t lineWidth = usualLineWidth;  ///< Of text.
};

/// For people, as wide as `lineWidth` where no name or number takes more.
std::string explanationAsText(const ExplanationReport& report);
/// A page as `comparisonAsHtml`; everything from the trace is escaped.
std::string explanationAsHtml(const ExplanationReport& report);
/// For programs; resources/manual/explain.md has the schema. Always valid UTF-8.
std::string explanationAsJson(const ExplanationReport& report);

/// Which workers stand beside each other, at most `most`: all, or the first ones and the one that
/// the others wait for.
std::vector<const explain::WorkerParts*> workersShown(const ExplanationReport& report, size_t most);

/// The parts that any of them has time of.
std::vector<analysis::StepPart> partsShown(const std::vector<const explain::WorkerParts*>& workers);

/// The unit of all times of an explanation.
DurationScale scaleOf(const ExplanationReport& report);

/// What the parts are of: "Mean step", or "Run".
std::string_view partsTitleOf(const ExplanationReport& report);

/// "launch_bound, up to 25.400 ms a step".
std::string headingOf(const ExplanationReport& report, const explain::Finding& finding);

}  // namespace lanescope::report
