// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/compare/CompareSelection.h"
#include "model/compare/Condition.h"
#include "model/format/Result.h"
#include "model/pages/ComparisonReport.h"

namespace lanescope {

/// Files and settings of a comparison.
struct ComparisonRequest {
    std::vector<std::string> baseline;                      ///< Runs of the reference program.
    std::vector<std::vector<std::string>> candidates = {};  ///< Runs of each examined program.
    /// Runs for the spread between runs. A folder means its runs like the baseline's, or else the candidate's.
    std::vector<std::string> earlier = {};
    /// A folder of runs used as the baseline, which then is empty; there is one candidate.
    std::string history = {};
    size_t historyRuns = 20;  ///< Number of last runs used.
    CompareSelection selection = {};
    std::vector<compare::Condition> conditions = {};
    bool isMissingFine = false;  ///< A condition on a name that no run has is skipped.

    /// Returns the files of both sides, the baseline's first.
    std::vector<std::string> comparedFiles() const;
};

/// Default number of rows of each list.
inline constexpr size_t defaultTextTop = 10;
inline constexpr size_t defaultHtmlTop = 50;

/// Opens a trace: `openTrace`, with the progress display of the caller.
using TraceOpener = std::function<Result<TracePtr>(const std::filesystem::path&)>;

/// Fails if a file is listed twice, or if there is a single earlier run that is not a folder, which gives no spread.
Result<void> checkFiles(const ComparisonRequest& request);

/// Returns the summary of a run: that stored in the trace, for all steps, else from its events, which takes as long as
/// opening it. Keeps nothing of the trace, so that any number of runs fit into memory one after the other.
Result<analysis::RunSummary> summarizeFile(const std::string& file, const CompareSelection& selection,
                                           const TraceOpener& open);

/// Makes the report of `lanescope compare` on the files.
Result<report::ComparisonReport> makeComparison(const ComparisonRequest& request, const TraceOpener& open);

/// Returns a comparison's page with timelines of each side's first run, which it opens. Fails as `timelineHtml`.
Result<std::string> comparisonPage(const report::ComparisonReport& report, const TraceOpener& open);

}  // namespace lanescope
