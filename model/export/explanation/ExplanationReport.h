// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunSummary.h"
#include "model/explain/Explanation.h"

namespace lanescope::report {

/// All that `lanescope explain` has to say of a run.
struct ExplanationReport {
    compare::RunSummary run;
    explain::Explanation explanation;
};

/// For people, at most 100 columns wide.
std::string explanationAsText(const ExplanationReport& report);
/// A page as `comparisonAsHtml`; everything from the trace is escaped.
std::string explanationAsHtml(const ExplanationReport& report);
/// For programs; resources/manual/explain.md has the schema. Always valid UTF-8.
std::string explanationAsJson(const ExplanationReport& report);

}  // namespace lanescope::report
