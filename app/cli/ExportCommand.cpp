// SPDX-License-Identifier: Apache-2.0
#include "app/cli/ExportCommand.h"

#include <memory>

#include "app/cli/Command.h"
#include "app/cli/Output.h"
#include "app/cli/loadForCommand.h"
#include "app/help/takes.h"
#include "model/export/chromeTrace.h"
#include "model/export/traceFile.h"
#include "model/index/openTrace.h"
#include "model/load/TraceFormat.h"

namespace lanescope::cli {

namespace {

struct ExportOptions {
    std::string file;
    std::string format = "chrome";
    std::string output;
};

/// A file of our own, which no pipe can be.
Result<void> runSqliteExport(const Trace& trace, const ExportOptions& options) {
    if (options.output.empty())
        return fail("A trace cannot be written to stdout: name a file with --output.");
    if (const Result<void> written = writeTraceFile(trace, options.output); !written)
        return written;
    if (const Result<void> sound = checkIndex(trace); !sound) return sound;
    reportHealth(trace);
    return {};
}

Result<void> runExport(const ExportOptions& options) {
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    if (options.format == "sqlite") return runSqliteExport(**trace, options);
    std::optional<std::filesystem::path> path;
    if (!options.output.empty()) path = options.output;
    Result<Output> output = Output::open(path, {options.file});
    if (!output) return fail(output.error());
    writeChromeTrace(**trace, [&output](std::string_view text) {
        output->write(text);
        return output->isWanted();
    });
    // A file gets its name only if all is well.
    if (const Result<void> sound = checkIndex(**trace); !sound) return sound;
    if (const Result<void> closed = output->close(); !closed) return closed;
    reportHealth(**trace);
    return {};
}

}  // namespace

void addExport(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<ExportOptions>();
    CLI::App* command = app.add_subcommand("export", "Write a trace in the format of another tool");
    command->add_option("FILE", options->file, readableFormats())->required();
    help::takesOneOf(
        command->add_option(
            "-f,--format", options->format,
            "chrome: trace-event JSON, which Perfetto and chrome://tracing open; sqlite: a trace "
            "of our own, of a file of another profiler"),
        {"chrome", "sqlite"})
        ->capture_default_str();
    command->add_option("-o,--output", options->output, "File to write instead of stdout")
        ->type_name("FILE");
    command->footer(
        "A trace is SQLite with the tables of an Nsight Systems export, so it needs no "
        "export for SQL.\nTables as CSV or JSON: see 'lanescope stats --help'.\n\n"
        "Examples:\n"
        "  lanescope export run.sqlite -o run.json\n"
        "  lanescope export run.sqlite | gzip > run.json.gz\n"
        "  lanescope export -f sqlite torch.json.gz -o run.sqlite");
    command->callback([options, &exitStatus] {
        const Result<void> result = runExport(*options);
        exitStatus = result ? static_cast<int>(exitOk) : reportFailure(result.error());
    });
}

}  // namespace lanescope::cli
