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

inline constexpr size_t defaultHistoryRuns = 20;

/// Which files are compared, and how.
struct ComparisonRequest {
    std::vector<std::string> baseline;                 ///< Runs of the program compared against.
    std::vector<std::vector<std::string>> candidates;  ///< Runs of each program asked about.
    /// They tell how much runs differ. A folder means the traces in it that are runs like the
    /// baseline's, or else the candidate's.
    std::vector<std::string> earlier;
    /// A folder of runs that stand for the baseline, which then is empty; there is one candidate.
    std::string history;
    size_t historyRuns = defaultHistoryRuns;  ///< The last so many of them.
    CompareSelection selection;
    std::vector<compare::Condition> conditions;
    bool isMissingFine = false;  ///< A condition on a name that no run has is skipped.

    /// Those of both sides, the baseline's first.
    std::vector<std::string> comparedFiles() const;
};

/// Rows of each list that a comparison shows where nobody says how many.
inline constexpr size_t defaultTextTop = 10;
inline constexpr size_t defaultHtmlTop = 50;

/// How files become traces: `openTrace`, with whatever its caller shows meanwhile.
using TraceOpener = std::function<Result<TracePtr>(const std::filesystem::path&)>;

/// Fails if a file stands twice on the two sides or among the earlier runs, or if there is one
/// earlier run alone, and no folder, which tells nothing.
Result<void> checkFiles(const ComparisonRequest& request);

/// The summary of a run: the one stored in the trace, if all steps are asked for and it has one,
/// else from its events, which takes as long as opening it. Keeps nothing of the trace, so that any
/// number of runs fit into memory one after the other.
Result<analysis::RunSummary> summarizeFile(const std::string& file,
                                           const CompareSelection& selection,
                                           const TraceOpener& open);

/// All that `lanescope compare` has to say of the files.
Result<report::ComparisonReport> makeComparison(const ComparisonRequest& request,
                                                const TraceOpener& open);

/// The traces of a folder that are runs like another one.
struct FolderRuns {
    std::vector<analysis::RunSummary> runs;  ///< Oldest first.
    /// Traces there that are not, that are damaged or that cannot be read.
    int64_t others = 0;
};

/// Whether both are runs of one command on one machine, on as many processes and the same GPUs,
/// recorded alike. Runs of which command or host are unknown are like none.
bool areAlike(const analysis::RunSummary& run, const analysis::RunSummary& other);

/// Reads the traces (`*.sqlite`) that lie in `folder`, not below it, as `summarizeFile` does. Fails
/// if the folder cannot be read.
Result<FolderRuns> runsOfFolder(const std::string& folder, const analysis::RunSummary& like,
                                const CompareSelection& selection, const TraceOpener& open);

/// "; 3 other traces there are damaged, or of another command, machine or way of recording"; empty
/// for none.
std::string othersClause(int64_t others);

/// A run among the earlier ones of its folder.
struct HistoryOfRun {
    report::RunHistory history;
    std::vector<analysis::RunSummary> level;  ///< Those that it is put against, oldest first.
    std::vector<std::string> sentences;       ///< What there is to say of them.
};

/// The earlier runs of a folder to put a run against: the last `most` that are like it and were
/// begun before it, from the latest change of their level on if there are three since. Fails with a
/// sentence if there are fewer than three.
Result<HistoryOfRun> historyOf(const analysis::RunSummary& run, const std::string& folder,
                               size_t most, const CompareSelection& selection,
                               const TraceOpener& open);

}  // namespace lanescope
