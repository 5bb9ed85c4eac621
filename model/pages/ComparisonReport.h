// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/compare/ComparisonTable.h"
#include "model/compare/ComparisonView.h"
#include "model/compare/RunComparison.h"
#include "model/compare/evaluateCondition.h"
#include "model/compare/judgeRuns.h"
#include "model/format/Result.h"
#include "model/text/ReportTable.h"
#include "model/text/formatValue.h"

namespace lanescope::report {

/// One run of a program, in the order of recording.
struct HistoricRun {
    std::string title;
    int64_t startUtcNs = 0;  ///< Since 1970; 0 if unknown.
    double medianNs = 0;     ///< Its median step.
};

/// Earlier runs of the report's program.
struct RunHistory {
    std::string folder;
    std::vector<HistoricRun> runs;  ///< Oldest first; the last is the examined one.
    int64_t others = 0;             ///< Other traces in the folder.
    size_t compared = 0;            ///< Number of the earlier ones it is compared with.
    /// The latest change of their level; `first` is an index into `runs`.
    std::optional<compare::ChangePoint> change;
};

/// One run compared with the baseline of a report.
struct ComparedCandidate {
    analysis::RunSummary summary;
    compare::RunComparison comparison;
    std::vector<compare::ConditionOutcome> conditions;  ///< In the order on the command line.
};

/// Content of a report of `lanescope compare`: one baseline, and every candidate against it.
struct ComparisonReport {
    analysis::RunSummary baseline = {};
    std::vector<ComparedCandidate> candidates = {};
    std::string selection = {};  ///< The compared steps, if not all: "steps 5-20". May be empty.
    /// Rows of each list in text and HTML, most significant first; 0 for all. JSON and CSV contain all.
    size_t top = 0;
    /// History of the candidate, if the baseline is made of it.
    std::optional<RunHistory> history = std::nullopt;
    size_t lineWidth = defaultLineWidth;  ///< Width of text.
    /// Files of the baseline's first run and of the first candidate's; empty for a history.
    std::vector<std::string> files = {};
};

/// Returns text for people, at most `lineWidth` wide unless a name or number is longer: the answer and its cautions,
/// the parts of a step, the largest losses, unmatched items, outlier steps. Several candidates are shown side by side.
std::string comparisonAsText(const ComparisonReport& report);

/// Returns one HTML page that needs no other file and no network. Everything from the traces is escaped, and the page
/// forbids itself any script and style but its own. Only sorting tables needs scripts.
/// `timelines` are shown below the answers (`timelineHtml`).
std::string comparisonAsHtml(const ComparisonReport& report, const std::string& timelines = {});

/// Returns the whole content, for programs; resources/manual/compare.md has the schema. Always valid UTF-8.
std::string comparisonAsJson(const ComparisonReport& report);

/// Returns the report as tables with a column "Candidate", one row per candidate and item.
std::vector<ReportTable> comparisonTables(const ComparisonReport& report);
/// Returns the names of the tables: "summary", "parts", "contributors", ...
std::vector<std::string_view> comparisonTableNames();
/// Returns the named table as CSV. Several tables, or all if none is named, become one with the columns of all of them
/// after a column "Table". Fails for a name that `comparisonTableNames` does not have.
Result<std::string> comparisonAsCsv(const ComparisonReport& report, const std::vector<std::string>& names);

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
