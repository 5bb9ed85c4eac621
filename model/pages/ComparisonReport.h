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
#include "model/compare/changePoint.h"
#include "model/compare/evaluateCondition.h"
#include "model/format/Result.h"
#include "model/text/ReportTable.h"
#include "model/text/formatValue.h"

namespace lanescope::report {

/// One run of a program in the order in which they were made.
struct HistoricRun {
    std::string title;
    int64_t startUtcNs = 0;  ///< Since 1970; 0 if unknown.
    double medianNs = 0;     ///< Its median step.
};

/// Earlier runs of the program that a report is about.
struct RunHistory {
    std::string folder;
    std::vector<HistoricRun> runs;  ///< Oldest first; the last is the one asked about.
    int64_t others = 0;             ///< Traces of the folder that are of something else.
    size_t compared = 0;            ///< So many of the earlier ones it is put against.
    /// The latest change of their level; `first` is an index into `runs`.
    std::optional<compare::ChangePoint> change;
};

/// One run against the baseline of a report.
struct ComparedCandidate {
    analysis::RunSummary summary;
    compare::RunComparison comparison;
    std::vector<compare::ConditionOutcome> conditions;  ///< In the order they were given.
};

/// All that `lanescope compare` has to say: one baseline, and every candidate against it.
struct ComparisonReport {
    analysis::RunSummary baseline;
    std::vector<ComparedCandidate> candidates;
    std::string selection;  ///< What was compared, if not all steps: "steps 5-20". May be empty.
    /// Rows of each list in text and HTML, weightiest first; 0 for all. JSON and CSV hold all.
    size_t top = 0;
    /// Of the candidate, where the baseline is made of it.
    std::optional<RunHistory> history = std::nullopt;
    size_t lineWidth = usualLineWidth;  ///< Of text.
};

/// For people, as wide as `lineWidth` where no name or number takes more: the answer and its
/// cautions, the parts of a step, what lost most, what has no counterpart, steps that stand out.
/// Several candidates stand side by side.
std::string comparisonAsText(const ComparisonReport& report);

/// One HTML page that needs no other file and no network. Everything from the traces is escaped,
/// and the page forbids itself any script and style but its own. Sorting tables needs scripts,
/// nothing else does.
std::string comparisonAsHtml(const ComparisonReport& report);

/// Everything there is, for programs; resources/manual/compare.md has the schema. Always valid
/// UTF-8.
std::string comparisonAsJson(const ComparisonReport& report);

/// The report as tables with a column "Candidate", one row for each candidate and thing.
std::vector<ReportTable> comparisonTables(const ComparisonReport& report);
/// Names of the tables: "summary", "parts", "contributors", ...
std::vector<std::string_view> comparisonTableNames();
/// One table as CSV: the one that is named; of several, or of all if none is named, one with the
/// columns of all of them and a column "Table" before. Fails for a name that
/// `comparisonTableNames` does not have.
Result<std::string> comparisonAsCsv(const ComparisonReport& report,
                                    const std::vector<std::string>& names);

}  // namespace lanescope::report
