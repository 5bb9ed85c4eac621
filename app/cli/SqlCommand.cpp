// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <memory>

#include "app/cli/Output.h"
#include "app/help/HelpFormatter.h"
#include "model/importers/TraceFormat.h"
#include "model/query/TraceQuery.h"
#include "model/text/formatTable.h"

namespace lanescope::cli {

namespace {

struct SqlOptions {
    std::string file;
    std::string sql;
    std::string format = "text";
    std::string output;
    double timeLimitS = 30;
    int64_t rowLimit = 100'000;

    QueryLimits limits() const {
        return QueryLimits{.time = std::chrono::milliseconds(static_cast<int64_t>(timeLimitS * 1000)),
                           .rows = rowLimit};
    }
};

/// Max length of a query from stdin, in bytes.
constexpr size_t maxQueryBytes = 100'000;

Result<std::string> queryText(const SqlOptions& options) {
    if (options.sql != "-") return options.sql;
    std::string text;
    char part[4096];
    for (size_t got = 0; (got = std::fread(part, 1, sizeof part, stdin)) > 0;) {
        text.append(part, got);
        if (text.size() > maxQueryBytes) return fail("The query on stdin is longer than {} bytes.", maxQueryBytes);
    }
    return text;
}

/// The formatted result of the query.
struct Answer {
    std::string text;
    std::string warning;  ///< Empty if there is none.
};

Result<Answer> ask(const SqlOptions& options, const std::string& sql, TableFormat format) {
    Result<TimedQuery> query = TimedQuery::open(options.file);
    if (!query) return fail(query.error());
    const auto result = query->run(sql, options.limits());
    if (!result) return fail({sentenceOf(result.error(), sql)});
    Answer answer{formatTable(result->table, format), {}};
    if (result->isCut)
        answer.warning = fmt::format("Only the first {} rows are shown. Use --rows for more.",
                                     formatCount(static_cast<int64_t>(result->table.rows.size())));
    if (const std::string doubt = query->doubt(); !doubt.empty())
        answer.warning += (answer.warning.empty() ? "" : " ") + doubt;
    return answer;
}

Result<void> runSql(const SqlOptions& options) {
    const Result<TableFormat> format = tableFormatFrom(options.format);
    if (!format) return fail(format.error());
    const Result<std::string> sql = queryText(options);
    if (!sql) return fail(sql.error());
    const Result<Answer> answer = ask(options, *sql, *format);
    if (!answer) return fail(answer.error());
    Result<Output> output = Output::open(options.output, {options.file});
    if (!output) return fail(output.error());
    output->write(answer->text);
    const Result<void> closed = output->close();
    if (!answer->warning.empty()) reportWarning(answer->warning);
    return closed;
}

std::string samples() {
    std::string text;
    for (const SampleQuery& sample : sampleQueries()) text += fmt::format("\n-- {}\n{}\n", sample.title, sample.sql);
    return text;
}

}  // namespace

void addSql(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<SqlOptions>();
    CLI::App* command = app.add_subcommand("sql", "Query a trace with SQL");
    command->add_option("FILE", options->file, queryableFormats())->required();
    command->add_option("SQL", options->sql, "One SELECT statement; - reads it from stdin")->required();
    addFormat(*command, options->format, {"text", "csv", "json"});
    help::addNumber(*command, "--rows", "N", 1, 100'000'000, options->rowLimit, "Maximum number of rows");
    help::addNumber(*command, "--time", "SECONDS", 0.001, 86'400, options->timeLimitS,
                    "Time limit of the query in seconds");
    addOutputFile(*command, options->output);
    command->footer(
        "The trace is opened read-only: statements that write, attach or load anything are refused, and so are "
        "views.\nThe tables are described in the manual: share/doc/lanescope/manual/tables.md, or F1 in "
        "lanescope-viewer.\n\nExamples:\n  lanescope sql run.sqlite 'SELECT count(*) FROM NVTX_EVENTS'\n  lanescope "
        "sql run.sqlite - --format csv < query.sql\n\nSample queries. They use tables of Lanescope traces; exports of "
        "Nsight Systems may lack some of them:\n" +
        samples());
    command->callback([options, &exitStatus] { exitStatus = statusOf(runSql(*options)); });
}

}  // namespace lanescope::cli
