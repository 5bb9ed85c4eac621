// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/htmlTables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/compare/ComparisonTable.h"
#include "model/compare/shownNumbers.h"
#include "model/export/comparison/HtmlTable.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/values/formatValue.h"
#include "model/values/kernelName.h"
#include "model/values/markupText.h"

namespace lanescope::report {

using namespace compare;

namespace {

double numberIn(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&cell);
    return real ? *real : std::nan("");
}

/// Losses begin a group, and numbers of another unit.
bool beginsGroup(const ComparisonTable& table, size_t column) {
    if (column == 0 || table.columns[column - 1].form == Form::Text) return false;
    const bool isLoss = table.isLoss(column) || table.columns[column].form == Form::Change;
    const bool wasLoss = table.isLoss(column - 1) || table.columns[column - 1].form == Form::Change;
    return !isLoss && (wasLoss || table.unitOf(column) != table.unitOf(column - 1));
}

/// The greatest loss of the table, sums left out.
double greatestLossOf(const ComparisonTable& table, size_t rowCount) {
    double greatest = 0;
    for (size_t row = 0; row < rowCount; ++row)
        for (size_t column = 0; column < table.columns.size(); ++column)
            if (table.isLoss(column) && std::isfinite(numberIn(table.rows[row][column])))
                greatest = std::max(greatest, std::abs(numberIn(table.rows[row][column])));
    return greatest;
}

std::string countChange(const ComparisonRow& row) {
    if (row.candidates.size() != 1 || !row.baseline.share || !row.candidates[0].share) return {};
    const std::string before = countText(row.baseline.share->count);
    const std::string after = countText(row.candidates[0].share->count);
    return before == after ? fmt::format("{} a step", after)
                           : fmt::format("{} a step, was {}", after, before);
}

/// A name, with where it is, how often, and what it was called before under it.
void addName(const ComparisonRow& row, HtmlTable& table) {
    std::string below;
    const auto add = [&below](const std::string& text) {
        if (!text.empty()) below += (below.empty() ? "" : " \u00b7 ") + text;
    };
    add(row.path);
    add(countChange(row));
    if (!row.formerName.empty()) add(fmt::format("was {}", withoutParameters(row.formerName)));
    std::vector<std::string_view> tags;
    if (isIdle(*row.part)) tags.push_back(name(*row.part));
    if (row.match == MatchKind::OnlyBaseline) tags.push_back("gone");
    if (row.match == MatchKind::OnlyCandidate) tags.push_back("new");
    if (!row.formerName.empty()) tags.push_back("renamed");
    table.name(withoutParameters(row.name), below, tags);
}

/// Draws a table; `rows` are those of its contributors, if it is of such. What is lost is coloured
/// if it is a fiftieth of the greatest loss.
std::string tableHtml(const ComparisonTable& shown, const std::vector<ComparisonRow>& rows = {},
                      bool hasSum = false) {
    std::vector<HtmlTable::Column> columns;
    for (size_t column = 0; column < shown.columns.size(); ++column)
        columns.push_back({shown.columns[column].name, std::string(shown.unitOf(column)),
                           shown.columns[column].form != Form::Text, beginsGroup(shown, column)});
    HtmlTable table(columns, "", !hasSum);
    const double greatest = greatestLossOf(shown, shown.rows.size() - (hasSum ? 1 : 0));
    const double least = std::max(static_cast<double>(shown.scale.quantumNs()), greatest / 50);
    for (size_t row = 0; row < shown.rows.size(); ++row) {
        if (hasSum && row + 1 == shown.rows.size()) table.beginFoot();
        table.beginRow();
        for (size_t column = 0; column < shown.columns.size(); ++column) {
            const std::optional<Field> field = shown.columns[column].field;
            const std::string text = shown.number(row, column);
            const double value = numberIn(shown.rows[row][column]);
            const bool isColored = shown.isLoss(column) && std::abs(value) >= least;
            if (field == Field::Name && !rows.empty())
                addName(rows[row], table);
            else if (shown.columns[column].form == Form::Text)
                field == Field::Range || field == Field::Name ? table.name(text) : table.text(text);
            else if (text.empty())
                table.nothing();
            else
                table.number(text, value, !isColored ? "" : value > 0 ? "lost" : "saved");
        }
    }
    return std::move(table).html();
}

}  // namespace

std::string candidateHeading(const ComparisonReport& report, size_t candidate) {
    if (report.candidates.size() == 1) return "Candidate";
    return markupEscaped(
        fmt::format("[{}] {}", candidate + 1, report.candidates[candidate].summary.facts.title));
}

std::string partsTableHtml(const ReportGroup& group) {
    std::vector<ComparisonRow> rows = partRows(group.view);
    rows.push_back(stepRow(group.view));
    ComparisonTable table =
        tableOf(group.view, rows,
                {{Field::Part}, {Field::Baseline}, {Field::Candidate, Field::Lost, Field::Change}},
                Wording::Narrow);
    table.columns.front().name = "Part of the mean step";
    return tableHtml(table, {}, true);
}

std::string contributorsHtml(const ComparisonReport& report, const ReportGroup& group,
                             PartGroup parts) {
    std::vector<ComparisonRow> rows = contributorRows(group.view, parts);
    keepWeightiest(rows, report.top, hasBandwidth(parts));
    if (rows.empty()) return {};
    Layout layout{{Field::Lost}, {Field::Baseline}, {Field::Candidate}};
    if (hasBandwidth(parts)) {
        layout.push_back({Field::BaselineRate});
        layout.push_back({Field::CandidateRate});
    }
    layout.push_back({Field::Name});
    return fmt::format("<h3>{}</h3>\n", markupEscaped(name(parts))) +
           tableHtml(tableOf(group.view, rows, layout, Wording::Narrow), rows);
}

std::string rangesHtml(const ComparisonReport& report, const ReportGroup& group) {
    std::vector<ComparisonRow> rows = rangeRows(group.view, false);
    keepWeightiest(rows, report.top);
    if (rows.empty()) return {};
    return "<h3>NVTX ranges</h3>\n" +
           tableHtml(tableOf(group.view, rows,
                             {{Field::Lost}, {Field::Baseline}, {Field::Candidate}, {Field::Range}},
                             Wording::Narrow));
}

std::string unmatchedHtml(const ReportGroup& group) {
    std::string html;
    for (const bool isOfBaseline : {true, false}) {
        const std::vector<ComparisonRow> rows = unmatchedRows(group.view, isOfBaseline);
        if (rows.empty()) continue;
        const Layout layout{{Field::OnlyTotal}, {Field::OnlyCount}, {Field::Kind}, {Field::Name}};
        html += fmt::format("<details><summary>{} ({})</summary>\n{}</details>\n",
                            isOfBaseline ? "Only in the baseline" : "Only in a candidate",
                            formatCount(static_cast<int64_t>(rows.size())),
                            tableHtml(tableOf(group.view, rows, layout, Wording::Narrow), rows));
    }
    return html;
}

std::string outliersHtml(const ComparisonReport& report) {
    const ComparisonTable table = outliersOf(report);
    return table.rows.empty() ? std::string() : tableHtml(table);
}

std::string judgedHtml(const ComparisonReport& report) {
    std::string html;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const WorkerComparison* pair = report.candidates[index].comparison.criticalPair();
        if (!pair || pair->quantities.empty()) continue;
        if (report.candidates.size() > 1)
            html += fmt::format("<h3>{}</h3>\n", candidateHeading(report, index));
        html += tableHtml(judgedTable(*pair));
    }
    return html;
}

std::string workersHtml(const ComparisonReport& report) {
    std::string html;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const RunComparison& comparison = report.candidates[index].comparison;
        if (comparison.workers.size() < 2) continue;
        if (report.candidates.size() > 1)
            html += fmt::format("<h3>{}</h3>\n", candidateHeading(report, index));
        html += tableHtml(workerTable(comparison));
    }
    return html;
}

std::string factsHtml(const ComparisonReport& report) {
    std::vector<HtmlTable::Column> columns{{""}, {"Baseline"}};
    for (size_t index = 0; index < report.candidates.size(); ++index)
        columns.push_back({candidateColumn(report, index)});
    HtmlTable table(columns, "", false);
    const auto addRow = [&](std::string_view title, auto textOf) {
        std::vector<std::string> texts{textOf(report.baseline)};
        for (const ComparedCandidate& candidate : report.candidates)
            texts.push_back(textOf(candidate.summary));
        if (std::all_of(texts.begin(), texts.end(), [](const auto& text) { return text.empty(); }))
            return;
        table.beginRow();
        table.text(title);
        for (const std::string& text : texts) table.name(text);
    };
    addRow("File", [](const RunSummary& run) { return run.facts.title; });
    addRow("Steps", [](const RunSummary& run) { return sourceSentence(run); });
    addRow("GPUs", [](const RunSummary& run) { return gpusSentence(run.facts); });
    addRow("Processes", [](const RunSummary& run) { return formatCount(run.facts.worldSize); });
    addRow("Command", [](const RunSummary& run) { return run.facts.commandLine; });
    addRow("Driver", [](const RunSummary& run) { return run.facts.driver; });
    addRow("CUDA", [](const RunSummary& run) { return run.facts.cuda; });
    addRow("Recorded by", [](const RunSummary& run) { return run.facts.producer; });
    return std::move(table).html();
}

}  // namespace lanescope::report
