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

// Sentences that text and HTML share. They hold names from the traces as they are: the caller
// escapes.

/// Something that makes the numbers doubtful.
struct ReportCaution {
    std::optional<size_t> candidate;  ///< Empty: it is said about all of several candidates alike.
    std::string sentence;
};
/// The cautions of all candidates, each sentence once.
std::vector<ReportCaution> cautionsOf(const ComparisonReport& report);

/// `compare::outlierTable` of all candidates; steps of the baseline once, however many there are.
compare::ComparisonTable outliersOf(const ComparisonReport& report);

/// "20 steps "step #", rank 0, GPU 0: median 78.18 ms". The name of the range is cut to
/// `widestName` columns.
std::string stepsSentence(const analysis::RunSummary& run, uint32_t worker,
                          const compare::StepDistribution& steps, size_t widestName);
/// "steps "step #"", "steps found by the rhythm of their kernels", "the whole run as one step"; in
/// the singular of one.
std::string sourceSentence(const analysis::RunSummary& run, int64_t count = 0,
                           size_t widestName = std::numeric_limits<size_t>::max());
/// "rank 0, GPU 0", or "rank 0, GPU 0 against rank 1, GPU 1".
std::string placeSentence(const compare::ComparisonView& view);

/// "2 x NVIDIA H200, joined by NVLink".
std::string gpusSentence(const analysis::SummaryFacts& facts);

}  // namespace lanescope::report
