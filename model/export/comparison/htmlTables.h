// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/export/comparison/ReportGroup.h"

namespace lanescope::report {

// The tables of the HTML report, each as a piece of the page; empty where there is nothing to show.

/// The parts of a step, every column with its sum.
std::string partsTableHtml(const ReportGroup& group);
/// Contributors of one group of parts, with its heading.
std::string contributorsHtml(const ComparisonReport& report, const ReportGroup& group,
                             compare::PartGroup parts);
std::string rangesHtml(const ComparisonReport& report, const ReportGroup& group);
/// What only one side has, both lists.
std::string unmatchedHtml(const ReportGroup& group);
/// What was judged beside the step; empty of two runs.
std::string judgedHtml(const ComparisonReport& report);
std::string outliersHtml(const ComparisonReport& report);
/// Every worker of every candidate; only where there are several.
std::string workersHtml(const ComparisonReport& report);
/// What is known of the runs: files, GPUs, versions, commands.
std::string factsHtml(const ComparisonReport& report);

/// "Candidate", or its number and title where there are several: "[2] b.sqlite". Escaped.
std::string candidateHeading(const ComparisonReport& report, size_t candidate);

}  // namespace lanescope::report
