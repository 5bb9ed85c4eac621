// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/textTables.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/compare/ComparisonTable.h"
#include "model/export/comparison/TextGrid.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/values/formatValue.h"
#include "model/values/kernelName.h"
#include "model/values/knownKernelName.h"

namespace lanescope::report {

using namespace compare;

namespace {

using Side = TextGrid::Side;

constexpr size_t widestRange = 24;
/// A name that is longer is cut where the terminal ends.
constexpr size_t widestWholeName = 60;

bool isSingle(const ComparisonReport& report) {
    return report.candidates.size() == 1;
}

/// The columns that have something to say; the first and the last always stand.
std::vector<size_t> columnsOf(const ComparisonTable& table) {
    std::vector<size_t> columns;
    for (size_t column = 0; column < table.columns.size(); ++column) {
        const bool isAtEdge = column == 0 || column + 1 == table.columns.size();
        const auto isFilled = [&](const auto& row) {
            const auto* text = std::get_if<std::string>(&row[column]);
            return !text || !text->empty();
        };
        if (isAtEdge || std::any_of(table.rows.begin(), table.rows.end(), isFilled))
            columns.push_back(column);
    }
    return columns;
}

/// A table with the units of its columns on the second line, and a rule before its last row if that
/// is a sum.
std::string gridText(const ComparisonTable& table, bool hasSum = false) {
    const std::vector<size_t> columns = columnsOf(table);
    std::vector<Side> sides;
    std::vector<std::string> headings, units;
    for (const size_t column : columns) {
        const bool isText = table.columns[column].form == Form::Text;
        sides.push_back(isText ? Side::Left : Side::Right);
        headings.push_back(table.columns[column].name);
        units.emplace_back(table.unitOf(column));
    }
    TextGrid grid(sides);
    grid.add(headings);
    grid.add(units);
    grid.addRule();
    for (size_t row = 0; row < table.rows.size(); ++row) {
        if (hasSum && row + 1 == table.rows.size()) grid.addRule();
        std::vector<std::string> cells;
        for (const size_t column : columns) {
            std::string text = table.number(row, column);
            if (table.columns[column].form == Form::Text)
                text = printable(text);
            else if (text.empty())
                text = "-";
            const bool isLast = column + 1 == table.columns.size();
            cells.push_back(table.columns[column].field == Field::Range && !isLast
                                ? cutTo(text, widestRange)
                                : text);
        }
        grid.add(std::move(cells));
    }
    return grid.text();
}

/// Begins with what people call a kernel where its name is long: cut, templates of one library are
/// all the same.
std::string nameInTable(std::string_view name) {
    const std::string whole(withoutParameters(name));
    if (displayWidth(whole) <= widestWholeName) return whole;
    const std::string known = knownKernelName(name);
    return known.empty() ? whole : fmt::format("{} · {}", known, whole);
}

std::string titleOf(const ComparisonRow& row) {
    std::string title = isIdle(*row.part) ? row.name : nameInTable(row.name);
    if (!row.formerName.empty()) title += fmt::format(" (was {})", nameInTable(row.formerName));
    if (row.match == MatchKind::OnlyBaseline) title = "(gone) " + title;
    if (row.match == MatchKind::OnlyCandidate) title = "(new) " + title;
    return isIdle(*row.part) ? fmt::format("{}: {}", name(*row.part), title) : title;
}

}  // namespace

std::string partsText(const ComparisonReport& report, const ReportGroup& group) {
    std::vector<ComparisonRow> rows = partRows(group.view);
    rows.push_back(stepRow(group.view));
    const std::vector<Field> ofCandidate =
        isSingle(report) ? std::vector{Field::Candidate, Field::Lost, Field::Change}
                         : std::vector{Field::Candidate, Field::Lost};
    ComparisonTable table =
        tableOf(group.view, rows, {{Field::Part}, {Field::Baseline}, ofCandidate}, Wording::Narrow);
    table.columns.front().name = "Mean step";
    return fmt::format("\nWhere the time of a step goes ({})\n\n", placeSentence(group.view)) +
           gridText(table, true);
}

std::string contributorsText(const ComparisonReport& report, const ReportGroup& group,
                             PartGroup parts) {
    std::vector<ComparisonRow> rows = contributorRows(group.view, parts);
    keepWeightiest(rows, report.top, hasBandwidth(parts));
    if (rows.empty()) return {};
    for (ComparisonRow& row : rows) row.name = titleOf(row);
    Layout layout{{Field::Lost}, {Field::Baseline}};
    if (isSingle(report)) layout.push_back({Field::Candidate});
    if (isSingle(report) && hasBandwidth(parts)) {
        layout.push_back({Field::BaselineRate});
        layout.push_back({Field::CandidateRate});
    }
    layout.push_back({Field::Range});
    layout.push_back({Field::Name});
    return fmt::format("\n{}: time of a step that nothing else hides\n\n", name(parts)) +
           gridText(tableOf(group.view, rows, layout, Wording::Narrow));
}

std::string rangesText(const ComparisonReport& report, const ReportGroup& group) {
    std::vector<ComparisonRow> rows = rangeRows(group.view, false);
    keepWeightiest(rows, report.top);
    if (rows.empty()) return {};
    Layout layout{{Field::Lost}, {Field::Baseline}};
    if (isSingle(report)) layout.push_back({Field::Candidate});
    layout.push_back({Field::Range});
    return "\nNVTX ranges: time of a step that belongs to them\n\n" +
           gridText(tableOf(group.view, rows, layout, Wording::Narrow));
}

std::string unmatchedText(const ComparisonReport& report, const ReportGroup& group,
                          bool isOfBaseline) {
    const std::vector<ComparisonRow> rows = unmatchedRows(group.view, isOfBaseline);
    if (rows.empty()) return {};
    std::string text =
        isOfBaseline
            ? "\nOnly in the baseline\n\n"
            : fmt::format("\nOnly in {}\n\n", isSingle(report) ? "the candidate" : "candidates");
    const ComparisonTable table = tableOf(
        group.view, rows, {{Field::OnlyTotal}, {Field::Kind}, {Field::Name}}, Wording::Narrow);
    const size_t shown = report.top == 0 ? rows.size() : std::min(rows.size(), report.top);
    TextGrid grid({Side::Right, Side::Left, Side::Left});
    for (size_t row = 0; row < shown; ++row)
        grid.add(
            {table.number(row, 0), table.number(row, 1), printable(nameInTable(rows[row].name))});
    text += grid.text();
    if (rows.size() > shown) text += fmt::format("... and {} more.\n", rows.size() - shown);
    return text;
}

std::string outliersText(const ComparisonReport& report) {
    const ComparisonTable table = outliersOf(report);
    if (table.rows.empty()) return {};
    // What a line has room for; the contributor, which may be cut, is last.
    return "\nSteps that stand out\n\n" + gridText(table.withColumns({0, 1, 2, 4, 5, 6, 8}));
}

std::string judgedText(const ComparisonReport& report) {
    std::string text;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const WorkerComparison* pair = report.candidates[index].comparison.criticalPair();
        if (!pair || pair->quantities.empty()) continue;
        text += fmt::format("\n{}Judged with the run as the unit, beside the whole step\n\n",
                            candidateMark(report, index)) +
                gridText(judgedTable(*pair));
    }
    return text;
}

std::string workersText(const ComparisonReport& report) {
    std::string text;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const RunComparison& comparison = report.candidates[index].comparison;
        if (comparison.workers.size() < 2) continue;
        text += fmt::format("\n{}Median step of every worker\n\n", candidateMark(report, index)) +
                gridText(workerTable(comparison).withColumns({0, 1, 4, 5, 6, 7, 8}));
    }
    return text;
}

}  // namespace lanescope::report
