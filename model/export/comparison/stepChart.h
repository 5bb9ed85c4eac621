// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/compare/StepBars.h"

namespace lanescope::report {

/// How a run of a chart is called and coloured.
struct StepLabel {
    std::string text;
    int color = 0;  ///< Number of the run: 0 the baseline, 1 the first candidate.
};

/// Steps of several runs over their order, as an SVG element: a dot for each step, a line for the
/// median and a band between the quartiles. Where several steps are put together it is a band from
/// the shortest to the longest, with a line along their medians. Steps far longer than the rest
/// stand at the upper edge, as a triangle with its time. As many labels as runs. Texts are escaped.
std::string stepChart(const compare::StepBars& steps, const std::vector<StepLabel>& labels);

}  // namespace lanescope::report
