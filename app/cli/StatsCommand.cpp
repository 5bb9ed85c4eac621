#include "app/cli/StatsCommand.h"

#include <memory>

#include "app/cli/Command.h"
#include "app/cli/Output.h"
#include "app/cli/loadForCommand.h"
#include "app/cli/parseRange.h"
#include "model/export/formatTable.h"
#include "model/summary/reports.h"

namespace lanescope {

namespace {

struct StatsOptions {
    std::string file;
    std::vector<std::string> reports;
    std::string format = "text";
    std::string range;
    std::string output;
};

std::string reportList() {
    std::string text = "Reports:\n";
    for (const ReportInfo& info : allReports())
        text += fmt::format("  {:<24} {}{}\n", info.name, info.description,
                            info.isDefault ? "" : " (only when asked for)");
    return text;
}

/// One table among `count`, in a form that keeps the whole output readable by a program.
std::string framed(const ReportTable& table, TableFormat format, size_t index, size_t count) {
    const std::string body = formatTable(table, format);
    switch (format) {
        case TableFormat::Text:
            return fmt::format("{}{} ({})\n\n{}", index > 0 ? "\n" : "", table.title, table.name,
                               table.rows.empty() ? "  No such events.\n" : body);
        case TableFormat::Csv:
            return (index > 0 ? "\r\n" : "") + body;
        case TableFormat::Json:
            break;
    }
    if (count == 1) return body;
    return fmt::format("{}\"{}\": {}{}", index == 0 ? "{\n" : ",\n", table.name,
                       std::string_view(body).substr(0, body.size() - 1),
                       index + 1 == count ? "\n}\n" : "");
}

Result<std::vector<ReportTable>> makeTables(const Trace& trace, const StatsOptions& options,
                                            std::optional<TimeRange> range) {
    std::vector<ReportTable> tables;
    std::vector<std::string> names = options.reports;
    const bool isDefault = names.empty();
    if (isDefault)
        for (const ReportInfo& info : allReports())
            if (info.isDefault) names.emplace_back(info.name);
    for (const std::string& name : names) {
        Result<ReportTable> table = makeReport(trace, name, range);
        if (!table) return fail(table.error());
        // Nobody asked for this one, so nobody misses it; programs still get all of them.
        if (isDefault && options.format == "text" && table->rows.empty()) continue;
        tables.push_back(std::move(*table));
    }
    return tables;
}

Result<void> runStats(const StatsOptions& options) {
    const Result<TableFormat> format = tableFormatFrom(options.format);
    if (!format) return fail(format.error());
    std::optional<TimeRange> range;
    if (!options.range.empty()) {
        const Result<TimeRange> parsed = parseRange(options.range);
        if (!parsed) return fail(parsed.error());
        range = *parsed;
    }
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    const Result<std::vector<ReportTable>> tables = makeTables(**trace, options, range);
    if (!tables) return fail(tables.error());

    std::optional<std::filesystem::path> path;
    if (!options.output.empty()) path = options.output;
    Result<Output> output = Output::open(path, {options.file});
    if (!output) return fail(output.error());
    for (size_t index = 0; index < tables->size() && output->isWanted(); ++index)
        output->write(framed((*tables)[index], *format, index, tables->size()));
    if (tables->empty())
        output->write(range ? "Nothing happened in this range.\n" : "The trace holds no events.\n");
    const Result<void> closed = output->close();
    reportHealth(**trace);
    return closed;
}

}  // namespace

void addStats(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<StatsOptions>();
    CLI::App* command = app.add_subcommand("stats", "Print summaries of a trace");
    command->add_option("FILE", options->file, "A trace, or an SQLite export of Nsight Systems")
        ->required();
    command->add_option("-r,--report", options->reports, "Report to print; may be given many times")
        ->allow_extra_args(false)
        ->check([](const std::string& name) {
            const Result<ReportInfo> report = findReport(name);
            return report ? std::string() : report.error().sentence;
        });
    command->add_option("-f,--format", options->format, "text, csv or json")
        ->check(CLI::IsMember({"text", "csv", "json"}))
        ->capture_default_str();
    command
        ->add_option("--range", options->range,
                     "Only events that overlap START:END, in seconds of the timeline")
        ->check([](const std::string& text) {
            const Result<TimeRange> range = parseRange(text);
            return range ? std::string() : range.error().sentence;
        });
    command->add_option("-o,--output", options->output, "File to write instead of stdout");
    command->footer(reportList() +
                    "\nCSV and JSON give plain numbers: nanoseconds, bytes, GB/s (10^9 bytes a "
                    "second). JSON of\nseveral reports is one object, of one report its array.\n\n"
                    "Examples:\n"
                    "  lanescope stats run.lanescope\n"
                    "  lanescope stats run.lanescope -r cuda_gpu_kern_sum -f csv -o kernels.csv\n"
                    "  lanescope stats run.lanescope --range 10:20");
    command->callback([options, &exitStatus] {
        const Result<void> result = runStats(*options);
        exitStatus = result ? static_cast<int>(exitOk) : reportFailure(result.error());
    });
}

}  // namespace lanescope
