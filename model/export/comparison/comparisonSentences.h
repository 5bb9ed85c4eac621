// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/compare/ComparisonTable.h"
#include "model/export/comparison/ReportGroup.h"

namespace lanescope::report {

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
std::string stepsSentence(const compare::RunSummary& run, uint32_t worker,
                          const compare::StepDistribution& steps, size_t widestName);
/// "steps "step #"", "steps found by the rhythm of their kernels", "the whole run as one step"; in
/// the singular of one.
std::string sourceSentence(const compare::RunSummary& run, int64_t count = 0,
                           size_t widestName = std::numeric_limits<size_t>::max());
/// "rank 0, GPU 0", or "rank 0, GPU 0 against rank 1, GPU 1".
std::string placeSentence(const compare::ComparisonView& view);

/// "2 x NVIDIA H200, joined by NVLink".
std::string gpusSentence(const compare::SummaryFacts& facts);

}  // namespace lanescope::report
