// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <functional>
#include <memory>

#include "app/cli/Output.h"
#include "app/cli/commandOptions.h"
#include "app/help/HelpFormatter.h"
#include "model/merge/mergeFiles.h"

namespace lanescope::cli {

namespace {

struct MergeCommandOptions {
    std::vector<std::string> files;
    std::string output;
    MergeArguments merge;
};

Result<std::vector<HealthNote>> runMerge(const MergeCommandOptions& options) {
    const auto files = filesToRead(options.files);
    if (!files) return fail(files.error());
    ProgressLine line;
    return mergeFiles(*files, options.output, options.merge.options(), std::ref(line));
}

/// Prints the clock synchronization and the step numbering, also if there is no problem.
void printNotes(const std::vector<HealthNote>& notes) {
    for (const HealthNote& note : notes) {
        // For the whole: each file has notes about its recording windows, which are irrelevant here.
        const bool isOfPart = note.code == HealthCode::Windows && !note.globalPid && !note.count.has_value();
        const bool isPrinted = note.code == HealthCode::ClocksAligned || note.code == HealthCode::ClockSet || isOfPart;
        if (isPrinted && note.severity == Severity::Info)
            printMessage(note.sentence);
        else if (note.severity != Severity::Info)
            reportWarning(note.sentence);
    }
}

}  // namespace

void addMerge(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<MergeCommandOptions>();
    CLI::App* command = app.add_subcommand("merge", "Merge the traces of several ranks into one");
    command->add_option("FILE", options->files, "Traces of one job, in any format, or folders of such traces")
        ->required();
    help::acceptOutputPath(command->add_option("-o,--output", options->output, "Output file"), "FILE")->required();
    addMergeOptions(*command, options->merge);
    command->footer(
        "Each process keeps its rank, or gets the rank in its file's name. GPUs are renumbered.\nThe result is a "
        "normal trace: stats, explain, compare and sql read it.\n\nExamples:\n  lanescope merge rank0.sqlite "
        "rank1.sqlite -o job.sqlite\n  lanescope merge traces/ --align steps -o job.sqlite\n  lanescope merge traces/ "
        "--ranks 0,17,517 --steps 120-124 -o slow.sqlite");
    command->callback([options, &exitStatus] {
        const auto notes = runMerge(*options);
        if (notes) printNotes(*notes);
        exitStatus = notes ? exitOk : reportFailure(notes.error());
    });
}

}  // namespace lanescope::cli
