// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/compare/ComparisonTable.h"
#include "model/compare/ComparisonView.h"
#include "model/pages/ComparisonReport.h"

namespace lanescope::report {

/// Candidates compared with the same worker of the baseline, so that one column has its numbers.
/// Nearly always there is one group; candidates without steps are in none. Points into the report.
struct ReportGroup {
    uint32_t baselineWorker = 0;
    std::vector<size_t> candidates;  ///< Indices into `ComparisonReport::candidates`.
    compare::ComparisonView view;    ///< View of these candidates.
};
/// Returns groups of at most `most` candidates, in the order of the report.
std::vector<ReportGroup> reportGroups(const ComparisonReport& report, size_t most);

/// Returns the view of one candidate's comparison of one pair of workers.
compare::ComparisonView viewOf(const compare::WorkerComparison& pair);

/// Returns "[2] ", to mark one of several candidates; empty if there is only one.
std::string candidateMark(const ComparisonReport& report, size_t candidate);
/// Returns the heading of its columns: "[2]", or "Candidate" if there is only one.
std::string candidateColumn(const ComparisonReport& report, size_t candidate);

// Sentences shared by text and HTML. Names from the traces are not escaped: the caller escapes.

/// A reason to doubt the numbers.
struct ReportCaution {
    std::optional<size_t> candidate;  ///< Nullopt if it holds for all of several candidates.
    std::string sentence;
};
/// Returns the cautions of all candidates, each sentence once.
std::vector<ReportCaution> cautionsOf(const ComparisonReport& report);

/// Returns `compare::outlierTable` of all candidates; steps of the baseline once, for any number of candidates.
compare::ComparisonTable outliersOf(const ComparisonReport& report);

/// Returns "20 steps "step #", rank 0, GPU 0: median 78.18 ms". The range's name has at most `maxRangeNameColumns`.
std::string stepsSentence(const analysis::RunSummary& run, uint32_t worker, const compare::StepDistribution& steps,
                          size_t maxRangeNameColumns);
/// Returns "steps "step #"", "steps found by the rhythm of their kernels" or "the whole run as one step"; singular.
std::string sourceSentence(const analysis::RunSummary& run, int64_t count = 0,
                           size_t maxRangeNameColumns = std::numeric_limits<size_t>::max());
/// "rank 0, GPU 0", or "rank 0, GPU 0 against rank 1, GPU 1".
std::string placeSentence(const compare::ComparisonView& view);

/// "2 x NVIDIA H200, connected by NVLink".
std::string gpusSentence(const analysis::SummaryFacts& facts);

}  // namespace lanescope::report
