// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "model/compare/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/values/displayWidth.h"

namespace lanescope::report {

/// All that `lanescope explain` has to say of a run.
struct ExplanationReport {
    compare::RunSummary run;
    explain::Explanation explanation;
    size_t lineWidth = usualLineWidth;  ///< Of text.
};

/// For people, as wide as `lineWidth` where no name or number takes more.
std::string explanationAsText(const ExplanationReport& report);
/// A page as `comparisonAsHtml`; everything from the trace is escaped.
std::string explanationAsHtml(const ExplanationReport& report);
/// For programs; resources/manual/explain.md has the schema. Always valid UTF-8.
std::string explanationAsJson(const ExplanationReport& report);

}  // namespace lanescope::report
