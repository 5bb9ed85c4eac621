// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/export/comparison/ReportGroup.h"

namespace lanescope::report {

// The tables of the text report, each with an empty line and its heading before it; empty where
// there is nothing to show.

/// The parts of a step, every column with its sum.
std::string partsText(const ComparisonReport& report, const ReportGroup& group);
std::string contributorsText(const ComparisonReport& report, const ReportGroup& group,
                             compare::PartGroup parts);
std::string rangesText(const ComparisonReport& report, const ReportGroup& group);
/// What only the baseline has, or only candidates.
std::string unmatchedText(const ComparisonReport& report, const ReportGroup& group,
                          bool isOfBaseline);
/// What was judged beside the step; empty of two runs.
std::string judgedText(const ComparisonReport& report);
std::string outliersText(const ComparisonReport& report);
/// The median step of every worker, for runs of several.
std::string workersText(const ComparisonReport& report);

}  // namespace lanescope::report
