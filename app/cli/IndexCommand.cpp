// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <memory>

#include "app/cli/Output.h"
#include "app/cli/commandOptions.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"

namespace lanescope::cli {

namespace {

struct IndexOptions {
    std::string file;
    bool isRemoving = false;
};

Result<void> runIndex(const IndexOptions& options) {
    if (options.isRemoving) {
        const Result<int> removed = removeIndexes(options.file);
        if (!removed) return fail(removed.error());
        printMessage(*removed > 0 ? "The index was removed." : "There was no index.");
        return {};
    }
    const Result<std::filesystem::path> index = indexForCommand(options.file);
    if (!index) return fail(index.error());
    printMessage(fmt::format("The index is {}.", index->string()));
    // The index exists now, for traces of any size.
    const Result<TracePtr> trace = openTrace(options.file, {.minBytes = 0, .mayWrite = false});
    if (!trace) return fail(trace.error());
    reportTraceWarnings(**trace);
    return {};
}

}  // namespace

void addIndex(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<IndexOptions>();
    CLI::App* command = app.add_subcommand("index", "Build the index of a trace, so that it opens instantly");
    command->add_option("FILE", options->file, readableFormats())->required();
    command->add_flag("--remove", options->isRemoving, "Remove the index instead");
    command->footer(
        "Every command that reads a trace builds its index, and so does the viewer; this command does only that.\nThe "
        "index is stored next to the trace as FILE.lanescope-index, or in ~/.cache/lanescope/index if that folder is "
        "not writable. You can remove it at any time.\n\nExamples:\n  lanescope index run.sqlite\n  lanescope index "
        "--remove run.sqlite");
    command->callback([options, &exitStatus] { exitStatus = statusOf(runIndex(*options)); });
}

}  // namespace lanescope::cli
