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
#include "model/compare/RunComparison.h"
#include "model/text/ReportTable.h"

namespace lanescope::compare {

/// Number format of a column.
enum class Form : uint8_t {
    Text,
    StepTime,  ///< Time in the mean step, in the scale of the comparison.
    StepLoss,  ///< Time lost by the candidate in the mean step, with a sign.
    Time,      ///< Exact time; each cell has its own unit.
    Loss,      ///< Exact time with a sign.
    Percent,
    Change,  ///< Percent with a sign.
    Rate,
    Count,
    Size,
    Number,  ///< An identifying number.
};

/// Content of a column.
enum class Field : uint8_t {
    Part,
    Kind,
    Match,
    Name,
    Range,
    Baseline,
    Candidate,
    Lost,
    OtherLost,  ///< Time in the mean step; OtherLost is for all candidates but the first.
    Change,     ///< Lost time in percent of the baseline's.
    BaselineShare,
    CandidateShare,  ///< Percent of the mean step of that run.
    BaselineTotal,
    CandidateTotal,  ///< Includes overlapped time.
    BaselineCount,
    CandidateCount,
    BaselineSize,
    CandidateSize,
    BaselineRate,
    CandidateRate,
    BaselineName,
    CandidateName,
    OnlyCount,
    OnlyTotal,  ///< Value of the only side that has the row.
};

struct ComparisonColumn {
    std::string name;
    Form form = Form::Text;
    std::optional<Field> field = {};  ///< Content of the column, if it is one of these.
};

/// A table of a comparison, independent of its layout. Plain numbers: nanoseconds, 10^9 bytes per second, percent.
struct ComparisonTable {
    std::string name = {};  ///< "parts".
    DurationScale scale = {};
    std::vector<ComparisonColumn> columns = {};
    std::vector<std::vector<Cell>> rows = {};  ///< Each as long as `columns`.
    std::vector<RowLead> leads = {};           ///< As many as rows.

    void add(std::vector<Cell> row, RowLead lead = {});
    bool isLoss(size_t column) const;
    /// Returns the common unit of a column ("ms", "%", "GB/s"). Empty if it has none or each cell its own.
    std::string_view unitOf(size_t column) const;
    /// Returns the text of a cell without `unitOf` its column: "+4.241", "72.92 ms", a name. Empty for an empty cell.
    std::string number(size_t row, size_t column) const;
    /// Returns the text of a cell with its unit: "+4.241 ms".
    std::string text(size_t row, size_t column) const;
    /// Returns the plain numbers, for files, sorting and filtering.
    ReportTable asReport() const;
    /// Returns a copy with some of the columns, in this order.
    ComparisonTable withColumns(std::initializer_list<size_t> wanted) const;
};

/// Headings, wording and candidates of a table.
enum class Wording : uint8_t {
    Narrow,    ///< For people, all candidates; units are shown below, so that two columns may be "Baseline".
    Wide,      ///< For people, the first candidate; every column has a different name.
    Programs,  ///< The first candidate, with identifiers instead of words.
};

/// Columns of a table: one per field, or per candidate for candidates' fields. A group's fields are adjacent.
using Layout = std::vector<std::vector<Field>>;

ComparisonTable tableOf(const ComparisonView& view, std::span<const ComparisonRow> rows, const Layout& layout,
                        Wording wording);

/// Returns the outlier steps: Run, Worker, Step, Name, Duration, Above Median, Part, Part Excess, Largest Cause, Range.
/// `Narrow` omits parameters. Rows lead to the step of the same number of these workers, if the workers are passed.
ComparisonTable outlierTable(const RunComparison& comparison, Wording wording,
                             const analysis::WorkerSummary* baseline = nullptr,
                             const analysis::WorkerSummary* candidate = nullptr);
/// Returns every pair of workers by median step: Baseline, Candidate, Baseline Steps, Candidate
/// Steps, Baseline Median, Candidate Median, Change, p, Outcome.
ComparisonTable workerTable(const RunComparison& comparison);
/// Returns the quantities judged in addition to the step, with the run as the unit: Judged,
/// Baseline, Lost, Low, High, p, Certain. Empty for two runs.
ComparisonTable judgedTable(const WorkerComparison& pair);
/// Returns the critical path in both runs, the largest change first: Part, Name, Line, Process (if ranks are known),
/// Baseline, Candidate, Diff. Empty if it is unknown in one of them.
ComparisonTable pathTable(const WorkerComparison& pair);
/// Returns its changes of at least a hundredth of the step, at most `top` (all for 0), with the numbers first.
ComparisonTable pathChangeTable(const WorkerComparison& pair, size_t top);
/// Returns every compared step and its counterpart.
ComparisonTable stepTable(const analysis::WorkerSummary& baseline, const analysis::WorkerSummary& candidate);
/// Returns means and maxima of counters over the compared steps.
ComparisonTable counterTable(std::span<const CounterDifference> counters);

}  // namespace lanescope::compare
