// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/compare/ComparisonView.h"
#include "model/compare/counterDifferences.h"
#include "model/text/ReportTable.h"

namespace lanescope::compare {

/// How the numbers of a column are written.
enum class Form : uint8_t {
    Text,
    StepTime,  ///< Of the mean step: in the scale of the comparison.
    StepLoss,  ///< The same with a sign: what the candidate lost.
    Time,      ///< Exact; each cell in its own unit.
    Loss,      ///< The same with a sign.
    Percent,
    Change,  ///< Percent with a sign.
    Rate,
    Count,
    Size,
    Number,  ///< It only names something.
};

/// What a column of a comparison's rows can hold.
enum class Field : uint8_t {
    Part,
    Kind,
    Match,
    Name,
    Range,
    Baseline,
    Candidate,
    Lost,
    OtherLost,  ///< Of the mean step; OtherLost: of all candidates but the first.
    Change,     ///< Lost time in percent of the baseline's.
    BaselineShare,
    CandidateShare,  ///< Of the mean step of that run, in percent.
    BaselineTotal,
    CandidateTotal,  ///< Hidden time, too.
    BaselineCount,
    CandidateCount,
    BaselineSize,
    CandidateSize,
    BaselineRate,
    CandidateRate,
    BaselineName,
    CandidateName,
    OnlyCount,
    OnlyTotal,  ///< Of the only side that has it.
};

struct ComparisonColumn {
    std::string name;
    Form form = Form::Text;
    std::optional<Field> field = {};  ///< What it holds, if it is one of these.
};

/// A table of a comparison, drawn by whoever shows it. Cells hold plain numbers: times in
/// nanoseconds, rates in 10^9 bytes a second, shares in percent.
struct ComparisonTable {
    std::string name;  ///< "parts".
    DurationScale scale;
    std::vector<ComparisonColumn> columns;
    std::vector<std::vector<Cell>> rows;  ///< Each as long as `columns`.
    std::vector<RowLead> leads;           ///< As many as rows.

    void add(std::vector<Cell> row, RowLead lead = {});
    bool isLoss(size_t column) const;
    /// Of all numbers of a column: "ms", "%", "GB/s"; empty where there is none or each has its
    /// own.
    std::string_view unitOf(size_t column) const;
    /// "+4.241", "72.92 ms", a name: a cell without `unitOf` its column; empty for an empty cell.
    std::string number(size_t row, size_t column) const;
    /// "+4.241 ms": the same with it.
    std::string text(size_t row, size_t column) const;
    /// Its plain numbers, for files, and to be sorted and filtered.
    ReportTable asReport() const;
    /// Some of its columns, in this order.
    ComparisonTable withColumns(std::initializer_list<size_t> wanted) const;
};

/// How a table is headed, what its words are, and whose columns it has.
enum class Wording : uint8_t {
    Narrow,    ///< For people, all candidates; units stand below, so that two columns may be
               ///< "Baseline".
    Wide,      ///< For people, the first candidate; each column is named apart.
    Programs,  ///< The same with identifiers instead of words.
};

/// The columns of a table: one for each field, and of what is the candidates' one for each of them.
/// The fields of one group stand together, candidate by candidate.
using Layout = std::vector<std::vector<Field>>;

ComparisonTable tableOf(const ComparisonView& view, std::span<const ComparisonRow> rows,
                        const Layout& layout, Wording wording);

/// Run, Worker, Step, Name, Wall, Excess, Part, Part Excess, Contributor, Range: the steps that
/// stand out; `Narrow` has contributors without parameters. Rows lead to the step of the same
/// number of these workers, if they are given.
ComparisonTable outlierTable(const RunComparison& comparison, Wording wording,
                             const analysis::WorkerSummary* baseline = nullptr,
                             const analysis::WorkerSummary* candidate = nullptr);
/// Every pair of workers by its median step: Baseline, Candidate, Baseline Steps, Candidate Steps,
/// Baseline Median, Candidate Median, Change, p, Outcome.
ComparisonTable workerTable(const RunComparison& comparison);
/// What was judged beside the step, with the run as the unit: Judged, Baseline, Lost, Low, High, p,
/// Certain. Empty of two runs.
ComparisonTable judgedTable(const WorkerComparison& pair);
/// Every compared step against the one in its place.
ComparisonTable stepTable(const analysis::WorkerSummary& baseline,
                          const analysis::WorkerSummary& candidate);
/// Counters over the compared steps: means and greatest values.
ComparisonTable counterTable(std::span<const CounterDifference> counters);

}  // namespace lanescope::compare
