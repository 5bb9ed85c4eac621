// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/makeTable.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "app/python/library/EventTable.h"
#include "app/python/library/RowTable.h"
#include "model/explain/RuleCondition.h"
#include "model/index/openTrace.h"
#include "model/query/QueryProcess.h"
#include "model/query/queryPosition.h"
#include "model/requests/makeComparison.h"
#include "model/requests/parseRange.h"
#include "model/requests/reportsAsked.h"
#include "model/summary/reports.h"

namespace lanescope::python {

namespace {

/// A report; what comes in parts is never whole in memory as cells.
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

Result<compare::RunSummary> summaryOf(const OpenTrace& open, const CompareSelection& selection) {
    return summarizeFile(
        open.path.string(), selection,
        [&open](const std::filesystem::path&) -> Result<TracePtr> { return open.trace; });
}

Result<TablePtr> stepsTable(const OpenTrace& open, Options& options) {
    const Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    const Result<compare::RunSummary> run = summaryOf(open, *selection);
    if (!run) return fail(run.error());
    ReportTable table{.name = "steps", .title = "Steps", .columns = {}, .rows = {}};
    table.columns = {{"Rank", Unit::Identifier},  {"PID", Unit::Identifier},
                     {"GPU", Unit::Identifier},   {"Step", Unit::Identifier},
                     {"Name", Unit::Text},        {"Start", Unit::Timestamp},
                     {"Wall", Unit::Nanoseconds}, {"On CPU", Unit::Nanoseconds}};
    for (size_t part = 0; part < compare::stepPartCount; ++part)
        table.columns.push_back(
            {std::string(compare::identifier(compare::StepPart(part))), Unit::Nanoseconds});
    for (const compare::WorkerSummary& worker : run->workers) {
        for (const compare::StepSummary& step : worker.steps) {
            std::vector<Cell> row{worker.rank ? Cell(int64_t{*worker.rank}) : Cell(),
                                  int64_t{worker.pid},
                                  worker.gpuId,
                                  step.number,
                                  step.name,
                                  step.startNs,
                                  step.wallNs,
                                  step.onCpuNs ? Cell(*step.onCpuNs) : Cell()};
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
    // The process of the query is the program that was installed with the package.
    Result<QueryProcess> query = QueryProcess::open(open.path, {}, options.take("program"));
    if (!query) return fail(query.error());
    auto result = query->run(sql, limits);
    if (!result) return fail({sentenceOf(result.error(), sql)});
    if (result->isCut)
        result->table.notes.push_back(
            fmt::format("Only the first {} rows are here; ask for more "
                        "with rows=.",
                        result->table.rows.size()));
    if (!query->doubt().empty()) result->table.notes.push_back(query->doubt());
    // The columns are called what the query calls them.
    for (ReportColumn& column : result->table.columns)
        if (column.unit == Unit::Timestamp) column.unit = Unit::Identifier;
    return std::make_shared<RowTable>(result->table, ColumnNames::Headers);
}

}  // namespace

Result<TablePtr> makeTable(const OpenTrace& open, std::string_view name, Options& options) {
    if (name == "events") return eventTable(open.trace, options.take("kind"));
    if (name == "stats") return statsTable(*open.trace, options);
    if (name == "steps") return stepsTable(open, options);
    if (name == "sql") return sqlTable(open, options);
    if (name != "nccl") return fail("A trace has no table \"{}\".", name);
    const Result<const Report*> report = findReport("nccl_trace");
    if (!report) return fail(report.error());
    return reportTable(**report, {*open.trace}, ColumnNames::Identifiers);
}

Result<TablePtr> makeTable(const report::ComparisonReport& comparison, std::string_view name) {
    for (const ReportTable& table : report::comparisonTables(comparison))
        if (table.name == name) return std::make_shared<RowTable>(table, ColumnNames::Headers);
    return fail("A comparison has no table \"{}\"; there are: {}.", name,
                fmt::join(report::comparisonTableNames(), ", "));
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
    for (std::string& candidate : options.takeAll("candidate"))
        request.candidates.push_back({std::move(candidate)});
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
    std::set<explain::Rule> muted;
    for (const std::string& name : options.takeAll("mute")) {
        const Result<explain::Rule> rule = explain::parseRule(name);
        if (!rule) return fail(rule.error());
        muted.insert(*rule);
    }
    const Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    Result<compare::RunSummary> run = summaryOf(open, *selection);
    if (!run) return fail(run.error());
    report::ExplanationReport report{std::move(*run), {}};
    report.explanation = explain::explain(report.run, muted);
    return report;
}

}  // namespace lanescope::python
