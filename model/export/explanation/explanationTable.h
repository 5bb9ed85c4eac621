// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/explain/Explanation.h"
#include "model/export/explanation/ExplanationReport.h"
#include "model/values/DurationScale.h"

namespace lanescope::report {

/// Which workers stand beside each other, at most `most`: all, or the first ones and the one that
/// the others wait for.
std::vector<const explain::WorkerParts*> workersShown(const ExplanationReport& report, size_t most);

/// The parts that any of them has time of.
std::vector<compare::StepPart> partsShown(const std::vector<const explain::WorkerParts*>& workers);

/// The unit of all times of an explanation.
DurationScale scaleOf(const ExplanationReport& report);

/// What the parts are of: "Mean step", or "Run".
std::string_view partsTitleOf(const ExplanationReport& report);

/// "launch_bound, up to 25.400 ms a step".
std::string headingOf(const ExplanationReport& report, const explain::Finding& finding);

}  // namespace lanescope::report
