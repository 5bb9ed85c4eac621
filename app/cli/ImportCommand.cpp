// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "model/export/traceFile.h"
#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/files.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/merge/mergeFiles.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace fs = std::filesystem;

namespace {

struct ImportOptions {
    std::vector<std::string> files;
    std::string folder;
    std::string output;
};

/// Returns "run.sqlite" for "run.json.gz": without the ending of a known trace format.
fs::path nameFor(const fs::path& file) {
    std::string name = file.filename().string();
    const auto cut = [&name](std::string_view ending) {
        if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
        name.resize(name.size() - ending.size());
        return true;
    };
    cut(".gz");
    bool isCut = false;
    for (const TraceFormat* format : traceFormats())
        for (const std::string_view ending : format->endings) isCut = isCut || (!ending.empty() && cut(ending));
    return name + ".sqlite";
}

/// Rejects a file as its own output, because that would remove it.
tl::unexpected<Error> refuseItself(const fs::path& file) {
    Result<TraceSource> source = TraceSource::open(file, {});
    if (!source) return fail(source.error());
    const auto format = findFormat(*source, traceFormats());
    if (!format) return fail(format.error());
    if (*format == &lanescopeFormat || *format == &nsightFormat)
        return fail("{}: {}, no import needed. Every command reads it directly.", file.string(), (*format)->name);
    return fail("{}: would be overwritten. Choose another name with -o, or a folder with --into.", file.string());
}

/// Returns the path of the result.
Result<fs::path> importFile(const fs::path& file, const ImportOptions& options) {
    const fs::path folder = options.folder.empty() ? file.parent_path() : fs::path(options.folder);
    const fs::path output = options.output.empty() ? folder / nameFor(file) : fs::path(options.output);
    if (const auto found = checkFile(file); !found) return fail(found.error());
    std::error_code error;
    if (fs::equivalent(file, output, error)) return refuseItself(file);
    if (const Result<void> place = checkPlace(output); !place) return fail(place.error());
    // The name is usually a default, so an existing file may be more valuable.
    if (options.output.empty() && mayExist(output))
        return fail("{}: would become {}, which exists. Choose another name with -o, or a folder with --into.",
                    file.string(), output.string());
    const std::array inputs{file};
    if (const Result<void> place = checkPlaceForTrace(output, inputs); !place) return fail(place.error());
    const Result<TracePtr> trace = loadForCommand(file);
    if (!trace) return fail(trace.error());
    if (isOfSqlite(**trace))
        return fail(
            "{0}: contains events that only its own SQLite tables can hold. Copy it, or its \"nsys export "
            "--type sqlite\" if it is a report.",
            file.string());
    if (const Result<void> written = writeSealedTraceFile(**trace, output); !written) return fail(written.error());
    if (const Result<void> sound = checkIndex(**trace); !sound) {
        static_cast<void>(removeFile(output));
        return fail(sound.error());
    }
    reportTraceWarnings(**trace);
    return output;
}

/// A file that cannot be imported does not stop the others.
Result<void> runImport(const ImportOptions& options) {
    const auto files = filesToRead(options.files);
    if (!files) return fail(files.error());
    if (!options.output.empty() && files->size() != 1)
        return fail("{} files would all become {}. Choose a folder with --into.", files->size(), options.output);
    if (!options.folder.empty())
        if (const Result<void> created = makePrivateFolders(options.folder); !created) return created;
    size_t failed = 0;
    Result<Output> output = Output::open();
    std::string text;
    for (const fs::path& file : *files) {
        const Result<fs::path> made = importFile(file, options);
        // A program needs the exact path; a terminal needs it escaped.
        if (made)
            text += (output->isTerminal() ? printable(made->string()) : made->string()) + "\n";
        else if (++failed, files->size() == 1)
            return fail(made.error());
        else
            reportFailure(made.error());
    }
    output->write(text);
    if (const Result<void> closed = output->close(); !closed) return closed;
    if (failed > 0) return fail("{} of {} files could not be imported.", failed, files->size());
    return {};
}

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

void addImport(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<ImportOptions>();
    CLI::App* command = app.add_subcommand("import", "Convert files of other tools to Lanescope traces");
    command->add_option("FILE", options->files, "Traces of other tools, or folders of such traces")->required();
    CLI::Option* const into = help::addOutputPath(*command, "--into", "FOLDER", options->folder,
                                                  "Output folder (default: next to each file); created if missing");
    help::addOutputPath(*command, "-o,--output", "FILE", options->output, "Output trace, for a single file")
        ->excludes(into);
    command->footer(
        "Each file becomes a trace of the same name with the extension .sqlite, and its path is printed.\n"
        "SQL tools and readers of Nsight Systems exports can open it.\n\n"
        "Examples:\n"
        "  lanescope import torch.json.gz\n"
        "  lanescope import torch.json.gz -o run.sqlite\n"
        "  lanescope import traces/ --into imported/");
    command->callback([options, &exitStatus] { exitStatus = statusOf(runImport(*options)); });
}

void addMerge(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<MergeCommandOptions>();
    CLI::App* command = app.add_subcommand("merge", "Merge the traces of several ranks into one");
    command->add_option("FILE", options->files, "Traces of one job, in any format, or folders of such traces")
        ->required();
    help::addOutputPath(*command, "-o,--output", "FILE", options->output, "Output file")->required();
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
