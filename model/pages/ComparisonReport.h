// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
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
    analysis::RunSummary baseline;
    std::vector<ComparedCandidate> candidates;
    std::string selection;  ///< The compared steps, if not all: "steps 5-20". May be empty.
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

}  // namespace lanescope::report
