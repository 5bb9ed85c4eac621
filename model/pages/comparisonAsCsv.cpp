// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/compare/ComparisonTable.h"
#include "model/pages/ComparisonReport.h"
#include "model/text/formatTable.h"

namespace lanescope::report {

using namespace analysis;
using namespace compare;

namespace {

using Row = std::vector<Cell>;

ReportTable tableWith(std::string name, std::vector<ReportColumn> columns) {
    ReportTable table{.name = std::move(name), .columns = {{"Candidate", Unit::Text}}};
    table.columns.insert(table.columns.end(), columns.begin(), columns.end());
    return table;
}

Cell text(std::string_view text) { return std::string(text); }

const std::string& titleOf(const ComparedCandidate& candidate) { return candidate.summary.facts.title; }

ReportTable summaryTable(const ComparisonReport& report) {
    ReportTable table = tableWith("summary", {{"Outcome", Unit::Text},
                                              {"Judged By", Unit::Text},
                                              {"Baseline Runs", Unit::Count},
                                              {"Candidate Runs", Unit::Count},
                                              {"Earlier Runs", Unit::Count},
                                              {"Baseline Steps", Unit::Count},
                                              {"Candidate Steps", Unit::Count},
                                              {"Baseline Median", Unit::Nanoseconds},
                                              {"Candidate Median", Unit::Nanoseconds},
                                              {"Difference", Unit::Nanoseconds},
                                              {"Low", Unit::Nanoseconds},
                                              {"High", Unit::Nanoseconds},
                                              {"Change", Unit::Percent},
                                              {"P Value", Unit::Identifier},
                                              {"Baseline P95", Unit::Nanoseconds},
                                              {"Candidate P95", Unit::Nanoseconds},
                                              {"Answer", Unit::Text}});
    for (const ComparedCandidate& candidate : report.candidates) {
        const Answer& answer = candidate.comparison.answer;
        Row row{titleOf(candidate), text(identifier(answer.outcome))};
        row.resize(table.columns.size() - 1);
        if (const WorkerComparison* pair = candidate.comparison.criticalPair()) {
            const Claim& claim = pair->claim;
            row = {titleOf(candidate),
                   text(identifier(answer.outcome)),
                   text(identifier(claim.unit)),
                   claim.baselineRuns,
                   claim.candidateRuns,
                   claim.spreadRuns,
                   pair->baseline.count,
                   pair->candidate.count,
                   pair->baseline.medianNs,
                   pair->candidate.medianNs,
                   claim.differenceNs,
                   claim.lowNs,
                   claim.highNs,
                   claim.percent,
                   claim.unit == ClaimUnit::Runs ? claim.adjustedPValue : claim.pValue,
                   pair->baseline.p95Ns,
                   pair->candidate.p95Ns};
        }
        row.emplace_back(answer.sentence);
        table.rows.push_back(std::move(row));
    }
    return table;
}

void addRows(const Row& before, const ComparisonTable& added, ReportTable& table) {
    for (const Row& cells : added.rows) {
        Row& row = table.rows.emplace_back(before);
        row.insert(row.end(), cells.begin(), cells.end());
    }
}

/// Returns the tables of every pair of workers as one, with their candidate and their worker in the first columns.
ReportTable tableOfPairs(const ComparisonReport& report, std::string_view name, auto tableOf) {
    ReportTable table = tableWith(std::string(name), {{"Worker", Unit::Text}});
    const ReportTable empty = tableOf(WorkerComparison()).asReport();
    table.columns.insert(table.columns.end(), empty.columns.begin(), empty.columns.end());
    for (const ComparedCandidate& candidate : report.candidates)
        for (const WorkerComparison& pair : candidate.comparison.workers)
            addRows({titleOf(candidate), pair.candidateLabel}, tableOf(pair), table);
    return table;
}

/// Returns the same of rows of a comparison.
ReportTable tableOfPairs(const ComparisonReport& report, std::string_view name, const Layout& layout,
                         std::vector<ComparisonRow> (*rowsOf)(const ComparisonView&)) {
    return tableOfPairs(report, name, [&](const WorkerComparison& pair) {
        const ComparisonView view = viewOf(pair);
        return tableOf(view, rowsOf(view), layout, Wording::Programs);
    });
}

ReportTable partsTable(const ComparisonReport& report) {
    return tableOfPairs(report, "parts",
                        {{Field::Part}, {Field::Baseline}, {Field::Candidate}, {Field::Lost}, {Field::Change}},
                        [](const ComparisonView& view) { return partRows(view, true); });
}

ReportTable contributorsTable(const ComparisonReport& report) {
    return tableOfPairs(report, "contributors",
                        {{Field::Part},
                         {Field::Kind},
                         {Field::Baseline},
                         {Field::Candidate},
                         {Field::Lost},
                         {Field::BaselineTotal},
                         {Field::CandidateTotal},
                         {Field::BaselineCount},
                         {Field::CandidateCount},
                         {Field::BaselineSize},
                         {Field::CandidateSize},
                         {Field::BaselineRate},
                         {Field::CandidateRate},
                         {Field::Match},
                         {Field::Range},
                         {Field::BaselineName},
                         {Field::CandidateName}},
                        [](const ComparisonView& view) { return contributorRows(view); });
}

ReportTable rangesTable(const ComparisonReport& report) {
    return tableOfPairs(report, "ranges",
                        {{Field::Range}, {Field::Part}, {Field::Baseline}, {Field::Candidate}, {Field::Lost}},
                        [](const ComparisonView& view) { return rangeRows(view, true); });
}

void addSteps(ReportTable& table, const Cell& candidate, const RunSummary& run) {
    for (const WorkerSummary& worker : run.workers) {
        for (const StepSummary& step : worker.steps) {
            Row row{candidate, worker.label(), step.number, step.name, step.startNs, step.wallNs};
            for (const int64_t ns : step.parts.ns) row.emplace_back(ns);
            table.rows.push_back(std::move(row));
        }
    }
}

/// The baseline's steps have an empty candidate.
ReportTable stepsTable(const ComparisonReport& report) {
    ReportTable table = tableWith("steps", {{"Worker", Unit::Text},
                                            {"Step", Unit::Identifier},
                                            {"Name", Unit::Text},
                                            {"Start", Unit::Timestamp},
                                            {"Duration", Unit::Nanoseconds}});
    for (const StepPart part : allStepParts)
        table.columns.push_back({std::string(identifier(part)), Unit::Nanoseconds});
    addSteps(table, {}, report.baseline);
    for (const ComparedCandidate& candidate : report.candidates) addSteps(table, titleOf(candidate), candidate.summary);
    return table;
}

ReportTable outliersTable(const ComparisonReport& report) {
    ReportTable table = tableWith("outliers", outlierTable({}, Wording::Programs).asReport().columns);
    for (const ComparedCandidate& candidate : report.candidates)
        addRows({titleOf(candidate)}, outlierTable(candidate.comparison, Wording::Programs), table);
    return table;
}

ReportTable judgedRows(const ComparisonReport& report) { return tableOfPairs(report, "judged", judgedTable); }

ReportTable pathRows(const ComparisonReport& report) { return tableOfPairs(report, "path", pathTable); }

ReportTable cautionsTable(const ComparisonReport& report) {
    ReportTable table = tableWith("cautions", {{"Caution", Unit::Text}});
    for (const ComparedCandidate& candidate : report.candidates)
        for (const std::string& caution : candidate.comparison.answer.cautions)
            table.rows.push_back({titleOf(candidate), caution});
    return table;
}

ReportTable conditionsTable(const ComparisonReport& report) {
    ReportTable table =
        tableWith("conditions", {{"Condition", Unit::Text}, {"State", Unit::Text}, {"Finding", Unit::Text}});
    for (const ComparedCandidate& candidate : report.candidates)
        for (const compare::ConditionOutcome& condition : candidate.conditions)
            table.rows.push_back(
                {titleOf(candidate), condition.text, text(identifier(condition.state)), condition.sentence});
    return table;
}

/// Returns one table with the columns of all, after a column with the name of a row's table. Missing cells are empty.
ReportTable united(const std::vector<ReportTable>& tables) {
    ReportTable all{.columns = {{"Table", Unit::Text}}};
    std::map<std::string, size_t> placeOf;  // by header, with the unit
    for (const ReportTable& table : tables)
        for (const ReportColumn& column : table.columns)
            if (placeOf.emplace(headerOf(column), all.columns.size()).second) all.columns.push_back(column);
    for (const ReportTable& table : tables) {
        for (const std::vector<Cell>& row : table.rows) {
            std::vector<Cell>& cells = all.rows.emplace_back(all.columns.size());
            cells[0] = table.name;
            for (size_t column = 0; column < row.size(); ++column)
                cells[placeOf.at(headerOf(table.columns[column]))] = row[column];
        }
    }
    return all;
}

struct TableEntry {
    std::string_view name;
    ReportTable (*make)(const ComparisonReport&);
};

constexpr std::array<TableEntry, 10> entries{{{"summary", summaryTable},
                                              {"judged", judgedRows},
                                              {"cautions", cautionsTable},
                                              {"conditions", conditionsTable},
                                              {"parts", partsTable},
                                              {"contributors", contributorsTable},
                                              {"ranges", rangesTable},
                                              {"path", pathRows},
                                              {"outliers", outliersTable},
                                              {"steps", stepsTable}}};

}  // namespace

std::vector<std::string_view> comparisonTableNames() { return mapped(entries, &TableEntry::name); }

std::vector<ReportTable> comparisonTables(const ComparisonReport& report) {
    return mapped(entries, [&](const TableEntry& entry) { return entry.make(report); });
}

Result<std::string> comparisonAsCsv(const ComparisonReport& report, const std::vector<std::string>& names) {
    std::vector<const TableEntry*> wanted;
    for (const std::string& name : names) {
        const auto entry = std::ranges::find_if(entries, [&](const TableEntry& one) { return one.name == name; });
        if (entry == entries.end())
            return fail("There is no table \"{}\"; there are: {}.", name, fmt::join(comparisonTableNames(), ", "));
        if (std::ranges::find(wanted, entry) == wanted.end()) wanted.push_back(entry);
    }
    if (names.empty())
        for (const TableEntry& entry : entries) wanted.push_back(&entry);
    if (wanted.size() == 1) return formatTable(wanted.front()->make(report), TableFormat::Csv);
    std::vector<ReportTable> tables = mapped(wanted, [&](const TableEntry* entry) { return entry->make(report); });
    return formatTable(united(tables), TableFormat::Csv);
}

}  // namespace lanescope::report
