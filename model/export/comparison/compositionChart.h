// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/compare/StepParts.h"
#include "model/values/DurationScale.h"

namespace lanescope::report {

/// What the mean step of one run is made of.
struct StepComposition {
    std::string label;
    compare::StepParts parts;
};

/// One bar for each run, all on one axis from 0, split into the parts of the step in the colours of
/// the legend below them, with times in `scale`. An SVG element; texts are escaped.
std::string compositionChart(const std::vector<StepComposition>& runs, const DurationScale& scale);

}  // namespace lanescope::report
