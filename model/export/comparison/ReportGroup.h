// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/compare/ComparisonView.h"
#include "model/export/comparison/ComparisonReport.h"

namespace lanescope::report {

/// Candidates that are compared with the same worker of the baseline, so that one column holds its
/// numbers. Nearly always there is one group; candidates without steps are in none. It points into
/// the report.
struct ReportGroup {
    uint32_t baselineWorker = 0;
    std::vector<size_t> candidates;  ///< Indices into `ComparisonReport::candidates`.
    compare::ComparisonView view;    ///< Of these.
};
/// In groups of at most `most` candidates, in the order of the report.
std::vector<ReportGroup> reportGroups(const ComparisonReport& report, size_t most);

/// One candidate's comparison of one pair of workers.
compare::ComparisonView viewOf(const compare::WorkerComparison& pair);

/// "[2] " before what is about one of several candidates; empty where there is only one.
std::string candidateMark(const ComparisonReport& report, size_t candidate);
/// What heads its columns: "[2]", or "Candidate" where there is only one.
std::string candidateColumn(const ComparisonReport& report, size_t candidate);

}  // namespace lanescope::report
