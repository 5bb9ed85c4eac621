// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <climits>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/commandOptions.h"
#include "app/help/HelpFormatter.h"
#include "model/fleet/RankDetails.h"
#include "model/format/Sqlite.h"
#include "model/format/files.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"

namespace lanescope::cli {

namespace {

struct SummarizeOptions {
    std::vector<std::string> files;
    std::string folder;
};

Result<std::filesystem::path> summarize(const std::filesystem::path& file, const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / fleet::summaryName(file);
    if (const size_t bytes = path.filename().string().size(); bytes > NAME_MAX)
        return fail("{}: cannot write, the name is {} byte{} too long. Give the trace a shorter name.", path.string(),
                    bytes - NAME_MAX, bytes - NAME_MAX == 1 ? "" : "s");
    const Result<TracePtr> trace = loadForCommand(file);
    if (!trace) return fail(trace.error());
    const Result<analysis::RunSummary> run = analysis::summarizeRun(**trace);
    if (!run) return fail(run.error());
    if (run->isEmpty()) return fail("{}: no GPU activity to summarize.", file.string());
    Result<fleet::RankDetails> details = fleet::rankDetails(**trace, *run);
    if (!details) return fail(details.error());
    // Only native traces have clocks.
    if (const Result<Database> database = Database::openReadOnly(file))
        details->clocks = fleet::readClocks(*database, **trace, *run);
    // Before writing, so that an existing summary stays; and after it, because writing reads more of the trace.
    if (const auto whole = checkIndex(**trace); !whole) return fail(whole.error());
    if (auto written = fleet::writeSummaryFile(path, **trace, *run, *details, false); !written)
        return fail(written.error());
    if (const auto whole = checkIndex(**trace); !whole) {
        static_cast<void>(removeFile(path));
        return fail(whole.error());
    }
    reportTraceWarnings(**trace);
    return path;
}

/// Each separately: a failure is reported and does not stop the others.
int runSummarize(const SummarizeOptions& options) {
    if (!options.folder.empty())
        if (const Result<void> created = makePrivateFolders(options.folder); !created)
            return reportFailure(created.error());
    int status = exitOk;
    for (const std::string& file : options.files) {
        const std::filesystem::path folder =
            options.folder.empty() ? std::filesystem::path(file).parent_path() : std::filesystem::path(options.folder);
        const Result<std::filesystem::path> made = summarize(file, folder);
        if (made)
            printMessage(fmt::format("The summary is {}.", made->string()));
        else
            status = reportFailure(made.error());
    }
    return status;
}

}  // namespace

void addSummarize(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<SummarizeOptions>();
    CLI::App* command = app.add_subcommand("summarize", "Write a small summary of a trace for 'lanescope fleet'");
    command->add_option("FILE", options->files, readableFormats())->required();
    help::acceptOutputPath(
        command->add_option("-o,--output", options->folder, "Output folder (default: next to each trace)"), "FOLDER");
    command->footer(
        "A summary has the name of its trace with the extension .lanescope-summary, has up to a "
        "few megabytes and\n"
        "does not need the trace. 'lanescope record --summary FOLDER' writes it at the end of a "
        "recording;\n"
        "'lanescope fleet' reads it.\n"
        "\n"
        "Examples:\n"
        "  lanescope summarize run.0.sqlite\n"
        "  lanescope summarize run.*.sqlite -o summaries");
    command->callback([options, &exitStatus] { exitStatus = runSummarize(*options); });
}

}  // namespace lanescope::cli
