// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "model/fleet/RankDetails.h"
#include "model/format/Sqlite.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"
#include "model/format/optionValues.h"
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
        if (const Result<std::filesystem::path> made = summarize(file, folder))
            printMessage(fmt::format("The summary is {}.", made->string()));
        else
            status = reportFailure(made.error());
    }
    return status;
}

constexpr const char* pythonVariable = "LANESCOPE_PYTHON";
constexpr const char* defaultPython = "python3";
/// Python starts isolated: without the current folder, which others may write to, and without Python's
/// environment variables. PYTHONPATH and the user's packages are added again, but only folders that this
/// user, root or the owner of Python alone can write, and none after `sudo`, which may keep variables of another user.
/// Prints one sentence if the package is missing, instead of Python's search path.
constexpr const char* start = R"py(import os, site, stat, sys
skipped = []
trusted = {0, os.getuid(), os.stat('/').st_uid, os.stat(os.path.realpath(sys.executable)).st_uid}
def is_safe(folder):
    for place in [folder, *(folder[:at] or '/' for at, letter in enumerate(folder) if letter == '/')]:
        status = os.stat(place)
        is_shared = status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and status.st_gid not in (0, os.getuid()))
        if status.st_uid not in trusted or is_shared and (place == folder or not status.st_mode & stat.S_ISVTX):
            return False
    return True
def safe(folders):
    found = [os.path.realpath(folder) for folder in folders if os.path.isabs(folder) and os.path.isdir(folder)]
    skipped.extend(folder for folder in found if not is_safe(folder))
    return [folder for folder in found if folder not in skipped]
if os.getuid() == os.geteuid() and os.getenv('SUDO_UID') is None:
    sys.path[:0] = safe(os.getenv('PYTHONPATH', '').split(os.pathsep))
    for folder in safe([site.getusersitepackages()] if sys.prefix == sys.base_prefix and not os.getenv('PYTHONNOUSERSITE') else []):
        site.addsitedir(folder)
try:
    from lanescope.fleet.command import main
except ImportError as error:
    other = f' Skipped because other users may write there: {", ".join(skipped)}.' if skipped else ''
    sys.exit(f'lanescope: The comparison of many ranks is written in Python, and {sys.executable} does not have it '
             f'({error}). Install the wheel with dask, distributed, duckdb and numpy, or name another Python in LANESCOPE_PYTHON.{other}')
main(sys.argv[1:])
)py";

/// Replaces this process; returns only if that fails.
Error becomePython(std::vector<std::string> words) {
    const std::string named = environment(pythonVariable);
    const std::string python = named.empty() ? defaultPython : named;
    words.insert(words.begin(), {python, "-I", "-c", start});
    errno = ENOENT;
    if (const std::filesystem::path program = findProgram(python); !program.empty())
        ::execv(program.c_str(), pointersTo(words).data());
    return {fmt::format("{}: cannot start: {}. Name a Python that has the lanescope package in {}.", python,
                        std::strerror(errno), pythonVariable)};
}

struct FleetOptions {
    std::string folder, other, output, html, roles, scheduler;
    int workers = 0;
    bool isForced = false, printsSlurm = false, printsKubernetes = false, isUnsafe = false;

    std::vector<std::string> words() const {
        std::vector<std::string> all;
        const auto add = [&](const char* name, const std::string& value) {
            if (!value.empty()) all.push_back(fmt::format("{}={}", name, value));
        };
        add("--output", output);
        add("--html", html);
        add("--roles", roles);
        add("--scheduler", scheduler);
        if (workers > 0) add("--workers", std::to_string(workers));
        if (isForced) all.emplace_back("--force");
        if (isUnsafe) all.emplace_back("--without-tls");
        if (printsSlurm) all.emplace_back("--print-slurm");
        if (printsKubernetes) all.emplace_back("--print-kubernetes");
        all.emplace_back("--");
        for (const std::string& each : {folder, other})
            if (!each.empty()) all.push_back(each);
        return all;
    }
};

Result<void> checkFolders(const FleetOptions& options) {
    std::error_code ignored;
    for (const std::string& folder : {options.folder, options.other})
        if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
            return fail("{}: not a folder. Name the folder with the summaries or traces of the ranks.", folder);
    return {};
}

}  // namespace

void addSummarize(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<SummarizeOptions>();
    CLI::App* command = app.add_subcommand("summarize", "Write a small summary of a trace for 'lanescope fleet'");
    command->add_option("FILE", options->files, readableFormats())->required();
    help::addOutputPath(*command, "-o,--output", "FOLDER", options->folder,
                        "Output folder (default: next to each trace)");
    command->footer(
        "A summary has the name of its trace with the extension .lanescope-summary, has up to a few megabytes and\n"
        "does not need the trace. 'lanescope record --summary FOLDER' writes it at the end of a recording;\n"
        "'lanescope fleet' reads it.\n\n"
        "Examples:\n"
        "  lanescope summarize run.0.sqlite\n"
        "  lanescope summarize run.*.sqlite -o summaries");
    command->callback([options, &exitStatus] { exitStatus = runSummarize(*options); });
}

void addFleet(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<FleetOptions>();
    CLI::App* command =
        app.add_subcommand("fleet", "Find the slow ranks, links and hosts of a job from the summaries of its ranks");
    command->add_option(
        "FOLDER", options->folder,
        "Folder with the summaries or traces of a job's ranks (not needed for --print-slurm and --print-kubernetes)");
    command->add_option("OTHER", options->other, "Folder of a second job, compared with the first as its baseline");
    help::addOutputPath(*command, "-o,--output", "FILE", options->output,
                        "SQLite file for the report (default: fleet.sqlite)");
    help::addOutputPath(*command, "--html", "FILE", options->html, "Also write the report as an HTML page");
    command->add_flag("--force", options->isForced, "Overwrite existing files");
    help::addValue(*command, "--roles", "FILE", options->roles,
                   "CSV file with the columns rank and role: ranks with the same role do the same work (default: "
                   "derived from the communicators)");
    help::addValue(*command, "--workers", "N", options->workers,
                   "Reader processes on this machine (default: one per core)");
    help::addValue(*command, "--scheduler", "ADDRESS", options->scheduler,
                   "Read with a Dask cluster: the address of its scheduler, or its scheduler file");
    command->add_flag("--without-tls", options->isUnsafe,
                      "Allow a scheduler without TLS; any program there can run code as you");
    command->add_flag("--print-slurm", options->printsSlurm,
                      "Print Slurm commands that start a Dask cluster, and exit");
    command->add_flag("--print-kubernetes", options->printsKubernetes,
                      "Print a Kubernetes manifest that starts a Dask cluster, and exit");
    command->footer(
        "Requires Lanescope's wheel, dask, distributed, duckdb and numpy. LANESCOPE_PYTHON names the Python to use.\n\n"
        "Examples:\n"
        "  lanescope fleet summaries -o fleet.sqlite --html fleet.html\n"
        "  lanescope fleet yesterday today -o both.sqlite\n"
        "  lanescope fleet summaries --scheduler tls://node0:8786");
    command->callback([options, &exitStatus] {
        if (options->folder.empty() && !options->printsSlurm && !options->printsKubernetes) {
            printMessage("Name the folder of the job. Try 'lanescope fleet --help'.");
            exitStatus = exitUsage;
            return;
        }
        const Result<void> places = checkFolders(*options);
        exitStatus = reportFailure(places ? becomePython(options->words()) : places.error());
    });
}

}  // namespace lanescope::cli
