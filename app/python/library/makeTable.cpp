// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/makeTable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "app/python/library/EventTable.h"
#include "model/explain/RuleCondition.h"
#include "model/index/openTrace.h"
#include "model/pages/makeComparison.h"
#include "model/query/TraceQuery.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"

namespace lanescope::python {

Options::Options(const char* const* pairs) {
    for (; pairs != nullptr && pairs[0] != nullptr && pairs[1] != nullptr; pairs += 2)
        given_.emplace_back(pairs[0], pairs[1]);
}

std::string Options::take(std::string_view name) {
    const std::vector<std::string> values = takeAll(name);
    return values.empty() ? std::string() : values.back();
}

std::vector<std::string> Options::takeAll(std::string_view name) {
    std::vector<std::string> values;
    std::erase_if(given_, [&](const auto& option) {
        if (option.first != name) return false;
        values.push_back(option.second);
        return true;
    });
    return values;
}

Result<int64_t> Options::takeCount(std::string_view name, int64_t otherwise) {
    const std::string text = take(name);
    if (text.empty()) return otherwise;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1)
        return fail("{}: \"{}\" is not a whole number above 0.", name, printable(text));
    return number;
}

Result<void> Options::checkAllUsed(std::string_view what) const {
    if (given_.empty()) return {};
    return fail("{}: unknown option \"{}\".", what, printable(given_.front().first));
}

namespace {

/// Returns a report; one that arrives in parts is never entirely in memory as cells.
TablePtr reportTable(const Report& report, const ReportQuery& query, ColumnNames names) {
    const auto forEachPart = [&](const std::function<void(const ReportTable&)>& add) {
        makeReportInParts(report, query, [&add](const ReportTable& part) {
            add(part);
            return true;
        });
    };
    return std::make_shared<RowTable>(std::string(report.info.name), forEachPart, names,
                                      report.list != nullptr ? TextsAre::Names : TextsAre::Plain);
}

Result<TablePtr> statsTable(const Trace& trace, Options& options) {
    const std::string by = options.take("by");
    const std::string rangeName = options.take("range_name");
    const std::string rangeText = options.take("range");
    const Result<std::vector<std::string>> names = reportsAsked({options.take("report")}, by);
    if (!names) return fail(names.error());
    const Result<const Report*> report = findReport(names->front());
    if (!report) return fail(report.error());
    if (const auto used = checkRangeNameIsUsed(*names, rangeName); !used) return fail(used.error());
    std::optional<TimeRange> range;
    if (!rangeText.empty()) {
        const Result<TimeRange> parsed = parseRange(rangeText);
        if (!parsed) return fail("{}.", parsed.error().sentence);
        range = *parsed;
    }
    const Result<void> selected = checkSelection(trace, *names, range, rangeName);
    if (!selected) return fail(selected.error());
    return reportTable(**report, {trace, range, rangeName}, ColumnNames::Headers);
}

Result<analysis::RunSummary> summaryOf(const OpenTrace& open, const CompareSelection& selection) {
    return summarizeFile(open.path.string(), selection,
                         [&open](const std::filesystem::path&) -> Result<TracePtr> { return open.trace; });
}

Result<TablePtr> stepsTable(const OpenTrace& open, Options& options) {
    const Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    const Result<analysis::RunSummary> run = summaryOf(open, *selection);
    if (!run) return fail(run.error());
    ReportTable table{.name = "steps", .title = "Steps", .columns = {}, .rows = {}};
    table.columns = {{"Rank", Unit::Identifier},  {"PID", Unit::Identifier},     {"GPU", Unit::Identifier},
                     {"Step", Unit::Identifier},  {"Name", Unit::Text},          {"Start", Unit::Timestamp},
                     {"Wall", Unit::Nanoseconds}, {"On CPU", Unit::Nanoseconds}, {"MFU", Unit::Percent}};
    for (size_t part = 0; part < analysis::stepPartCount; ++part)
        table.columns.push_back({std::string(analysis::identifier(analysis::StepPart(part))), Unit::Nanoseconds});
    for (const analysis::WorkerSummary& worker : run->workers) {
        for (const analysis::StepSummary& step : worker.steps) {
            const std::optional<double> mfu = worker.mfuOf(step);
            std::vector<Cell> row{worker.rank ? Cell(int64_t{*worker.rank}) : Cell(),
                                  int64_t{worker.pid},
                                  worker.gpuId,
                                  step.number,
                                  step.name,
                                  step.startNs,
                                  step.wallNs,
                                  step.onCpuNs ? Cell(*step.onCpuNs) : Cell(),
                                  mfu ? Cell(100 * *mfu) : Cell()};
            row.insert(row.end(), step.parts.ns.begin(), step.parts.ns.end());
            table.rows.push_back(std::move(row));
        }
    }
    return std::make_shared<RowTable>(table, ColumnNames::Identifiers);
}

Result<TablePtr> sqlTable(const OpenTrace& open, Options& options) {
    const std::string sql = options.take("query");
    QueryLimits limits;
    const Result<int64_t> rows = options.takeCount("rows", limits.rows);
    if (!rows) return fail(rows.error());
    const Result<int64_t> seconds = options.takeCount("seconds", limits.time.count() / 1000);
    if (!seconds) return fail(seconds.error());
    constexpr int64_t day = 86'400;
    limits.rows = *rows;
    limits.time = std::chrono::seconds(std::min(*seconds, day));
    Result<TimedQuery> query = TimedQuery::open(open.path);
    if (!query) return fail(query.error());
    auto result = query->run(sql, limits);
    if (!result) return fail({sentenceOf(result.error(), sql)});
    if (result->isCut)
        result->table.notes.push_back(
            fmt::format("Only the first {} rows are shown. Get more with rows=.", result->table.rows.size()));
    if (std::string doubt = query->doubt(); !doubt.empty()) result->table.notes.push_back(std::move(doubt));
    // The columns have the names in the query.
    for (ReportColumn& column : result->table.columns)
        if (column.unit == Unit::Timestamp) column.unit = Unit::Identifier;
    return std::make_shared<RowTable>(result->table, ColumnNames::Headers);
}

bool isNull(const ColumnValues& column, size_t row) {
    const auto* bits = column.validity.as<uint8_t>();
    return bits != nullptr && (bits[row / 8] >> row % 8 & 1) == 0;
}

Cell cellOf(const ColumnInfo& info, const ColumnValues& column, size_t row) {
    if (isNull(column, row)) return {};
    const Buffer& values = column.values;
    switch (info.type) {
        case ColumnType::Int32: return int64_t{values.as<int32_t>()[row]};
        case ColumnType::UInt32: return int64_t{values.as<uint32_t>()[row]};
        case ColumnType::Int64: return values.as<int64_t>()[row];
        case ColumnType::UInt64: return fmt::format("{}", values.as<uint64_t>()[row]);
        case ColumnType::Float64: return values.as<double>()[row];
        case ColumnType::Name: return info.dictionary->texts[static_cast<size_t>(values.as<int32_t>()[row])];
        case ColumnType::Text: break;
    }
    const auto* ends = values.as<int32_t>() + row;
    return std::string(column.text.as<char>() + ends[0], column.text.as<char>() + ends[1]);
}

}  // namespace

Result<TablePtr> makeTable(const OpenTrace& open, std::string_view name, Options& options) {
    if (name == "events") return eventTable(open.trace, options.take("kind"));
    if (name == "stats") return statsTable(*open.trace, options);
    if (name == "steps") return stepsTable(open, options);
    if (name == "sql") return sqlTable(open, options);
    if (name != "nccl") return fail("Unknown table \"{}\".", name);
    const Result<const Report*> report = findReport("nccl_trace");
    if (!report) return fail(report.error());
    return reportTable(**report, {*open.trace}, ColumnNames::Identifiers);
}

Result<TablePtr> makeTable(const report::ComparisonReport& comparison, std::string_view name) {
    for (const ReportTable& table : report::comparisonTables(comparison))
        if (table.name == name) return std::make_shared<RowTable>(table, ColumnNames::Headers);
    return fail("Unknown table \"{}\"; choose from: {}.", name, fmt::join(report::comparisonTableNames(), ", "));
}

Result<CompareSelection> takeSelection(Options& options) {
    CompareSelection selection;
    selection.range = options.take("range");
    if (const std::string steps = options.take("steps"); !steps.empty()) {
        const Result<StepRange> numbers = parseStepNumbers(steps);
        if (!numbers) return fail("{}.", numbers.error().sentence);
        selection.numbers = *numbers;
    }
    if (const std::string align = options.take("align"); !align.empty()) {
        const Result<void> parsed = parseAlignment(align, selection);
        if (!parsed) return fail("{}.", parsed.error().sentence);
    }
    return selection;
}

Result<report::ComparisonReport> compareWith(const OpenTrace& open, Options& options) {
    ComparisonRequest request;
    request.baseline = {open.path.string()};
    for (std::string& candidate : options.takeAll("candidate")) request.candidates.push_back({std::move(candidate)});
    if (request.candidates.empty()) return fail("Name a run to compare with.");
    request.earlier = options.takeAll("spread");
    Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    request.selection = std::move(*selection);
    const Result<int64_t> top = options.takeCount("top", defaultTextTop);
    if (!top) return fail(top.error());
    if (const auto checked = checkFiles(request); !checked) return fail(checked.error());
    Result<report::ComparisonReport> report =
        makeComparison(request, [&open](const std::filesystem::path& path) -> Result<TracePtr> {
            return path == open.path ? open.trace : openTrace(path);
        });
    if (report) report->top = static_cast<size_t>(*top);
    return report;
}

Result<report::ExplanationReport> explainTrace(const OpenTrace& open, Options& options) {
    explain::MutedRules muted;
    for (const std::string& name : options.takeAll("mute")) {
        const Result<const explain::Rule*> rule = explain::parseRule(name);
        if (!rule) return fail(rule.error());
        muted.insert(*rule);
    }
    const Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    Result<analysis::RunSummary> run = summaryOf(open, *selection);
    if (!run) return fail(run.error());
    report::ExplanationReport report{std::move(*run), {}};
    report.explanation = explain::explain(report.run, muted);
    return report;
}

ReportTable previewOf(const Table& table, int64_t maxRows) {
    ReportTable shown;
    shown.name = table.name();
    shown.notes = table.notes();
    for (const ColumnInfo& column : table.columns()) shown.columns.push_back({column.title, column.unit});
    for (int64_t first = 0; first < std::min(maxRows, table.rowCount());) {
        const Batch batch = table.rows(first, maxRows - first);
        for (size_t row = 0; row < batch.rows; ++row) {
            std::vector<Cell>& cells = shown.rows.emplace_back();
            for (size_t column = 0; column < shown.columns.size(); ++column)
                cells.push_back(cellOf(table.columns()[column], *batch.columns[column], batch.offset + row));
        }
        first += static_cast<int64_t>(batch.rows);
    }
    return shown;
}

std::string asHtml(const ReportTable& table, int64_t rowCount) {
    std::string html = "<table><thead><tr>";
    for (const ReportColumn& column : table.columns) html += fmt::format("<th>{}</th>", markupEscaped(column.name));
    html += "</tr></thead><tbody>";
    for (const std::vector<Cell>& row : table.rows) {
        html += "<tr>";
        for (size_t column = 0; column < row.size(); ++column)
            html += fmt::format("<td>{}</td>", markupEscaped(formatCell(row[column], table.columns[column].unit)));
        html += "</tr>";
    }
    html += fmt::format("</tbody></table><p>{} of {} rows</p>", formatCount(static_cast<int64_t>(table.rows.size())),
                        formatCount(rowCount));
    for (const std::string& note : table.notes) html += fmt::format("<p>{}</p>", markupEscaped(note));
    return html;
}

}  // namespace lanescope::python
