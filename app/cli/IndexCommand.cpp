// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "model/format/ReadWatch.h"
#include "model/importers/TraceFormat.h"
#include "model/index/checkTrace.h"
#include "model/index/openTrace.h"
#include "model/notes/NotesFile.h"
#include "model/text/formatValue.h"

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

std::vector<lanescope::Finding> findingsOf(const std::filesystem::path& file) {
    ProgressLine line;
    std::vector<lanescope::Finding> findings = checkTrace(file, std::ref(line));
    if (const Result<FoundNotes> notes = NotesFile::forTrace(file, {}).read(); !notes)
        findings.push_back({false, notes.error().sentence});
    else if (!notes->remark.empty())
        findings.push_back({notes->isIgnored, notes->remark});
    return findings;
}

Result<int> runCheck(const std::filesystem::path& file) {
    // A file that cannot be read is not a corrupt one.
    if (const Result<uint64_t> readable = checkFile(file); !readable) return fail(readable.error());
    const std::vector<lanescope::Finding> findings = findingsOf(file);
    std::string text;
    for (const lanescope::Finding& finding : findings)
        text += fmt::format("{}  {}\n", finding.isGood ? "ok " : "BAD", printable(finding.sentence));
    if (const Result<void> printed = printOutput(text); !printed) return fail(printed.error());
    return std::ranges::all_of(findings, &lanescope::Finding::isGood) ? exitOk : exitFailed;
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

void addCheck(CLI::App& app, int& exitStatus) {
    auto file = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("check", "Verify the checksums of a trace");
    command->add_option("FILE", *file, readableFormats())->required();
    command->footer(
        "Reads the whole trace, its index and its notes, and compares them with their stored checksums.\nExits with 0 "
        "if all match, and with 1 if anything is corrupt or was changed by another program.\n\nExample:\n  lanescope "
        "check run.sqlite");
    command->callback([file, &exitStatus] { exitStatus = statusOf(runCheck(*file)); });
}

}  // namespace lanescope::cli
