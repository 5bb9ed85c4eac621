// SPDX-License-Identifier: Apache-2.0
#include "app/cli/ExportCommand.h"

#include <memory>

#include "app/cli/Command.h"
#include "app/cli/Output.h"
#include "app/cli/loadForCommand.h"
#include "app/help/takes.h"
#include "model/export/chromeTrace.h"
#include "model/export/foldedStacks.h"
#include "model/index/openTrace.h"
#include "model/load/TraceFormat.h"

namespace lanescope::cli {

namespace {

constexpr const char* folded = "folded";

struct ExportOptions {
    std::string file;
    std::string format = "chrome";
    std::string output;
};

Result<void> runExport(const ExportOptions& options) {
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    std::optional<std::filesystem::path> path;
    if (!options.output.empty()) path = options.output;
    Result<Output> output = Output::open(path, {options.file});
    if (!output) return fail(output.error());
    const auto write = [&output](std::string_view text) {
        output->write(text);
        return output->isWanted();
    };
    if (options.format == folded)
        writeFoldedStacks(**trace, write);
    else
        writeChromeTrace(**trace, write);
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
        command->add_option("-f,--format", options->format,
                            "chrome: trace-event JSON, which Perfetto and chrome://tracing open; "
                            "folded: time on GPUs by Python stack, for flame graphs"),
        {"chrome", folded})
        ->capture_default_str();
    command->add_option("-o,--output", options->output, "File to write instead of stdout")
        ->type_name("FILE");
    command->footer(
        "A trace is SQLite with the tables of an Nsight Systems export, so it needs no "
        "export for SQL.\nTables as CSV or JSON: see 'lanescope stats --help'.\n\n"
        "Examples:\n"
        "  lanescope export run.sqlite -o run.json\n"
        "  lanescope export run.sqlite | gzip > run.json.gz");
    command->callback([options, &exitStatus] {
        const Result<void> result = runExport(*options);
        exitStatus = result ? static_cast<int>(exitOk) : reportFailure(result.error());
    });
}

}  // namespace lanescope::cli
