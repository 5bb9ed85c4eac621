// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "model/analysis/StepSelection.h"
#include "model/export/exportTrace.h"
#include "model/export/traceFile.h"
#include "model/flame/makeFlame.h"
#include "model/format/files.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/pages/TimelineData.h"
#include "model/reports/reports.h"

namespace lanescope::cli {

namespace {

constexpr const char* folded = "folded";
constexpr const char* flame = "flame";
constexpr const char* flameOfNvtx = "flame-ranges";
constexpr const char* threads = "threads";

struct ExportOptions {
    std::string file;
    std::string format = "perfetto";
    std::string output;
    std::string over = "lines";  ///< The frames of a flame graph.
    bool isOverGiven = false;
    std::optional<TimeRange> range;
};

/// Writes a Lanescope (native) file, which cannot be a pipe.
Result<void> runSqliteExport(const Trace& trace, const ExportOptions& options) {
    if (isOfSqlite(trace)) return fail("{}: already SQLite, no export needed. Copy the file.", options.file);
    if (const Result<void> written = writeSealedTraceFile(trace, options.output); !written) return written;
    if (const Result<void> sound = checkIndex(trace); !sound) {
        static_cast<void>(removeFile(options.output));
        return sound;
    }
    reportTraceWarnings(trace);
    return {};
}

/// Returns "run.rank3.json" for "run.json".
std::filesystem::path pathOfRank(const std::filesystem::path& path, const Trace& trace, uint32_t process,
                                 size_t number) {
    const std::optional<int> rank = trace.processes[process].rank;
    const auto shown = rank ? static_cast<size_t>(*rank) : number;
    std::filesystem::path name = path.stem();
    name += fmt::format(".rank{}", shown);
    name += path.extension();
    return path.parent_path() / name;
}

/// Writes one file per rank, like torch.profiler.
Result<void> runKinetoExport(const Trace& trace, const ExportOptions& options) {
    const std::vector<uint32_t> processes = kinetoProcesses(trace);
    if (processes.size() > 1 && options.output.empty())
        return fail(
            "{}: the trace has {} ranks, and torch.profiler files hold one each. Name a file with --output; each "
            "rank's number is added to its name.",
            options.file, processes.size());
    // The files would be named after it.
    std::error_code ignored;
    const auto status = std::filesystem::status(options.output, ignored);
    if (processes.size() > 1 && (std::filesystem::is_other(status) || std::filesystem::is_directory(status)))
        return fail("--output: cannot write a file for each of {} ranks to {}, which is a {}. Name a file.",
                    processes.size(), options.output,
                    std::filesystem::is_directory(status) ? "folder" : "device or pipe");
    std::vector<std::filesystem::path> paths(processes.size());
    for (size_t number = 0; number < processes.size() && !options.output.empty(); ++number)
        paths[number] = processes.size() == 1 ? std::filesystem::path(options.output)
                                              : pathOfRank(options.output, trace, processes[number], number);
    // Opens all before any is written. A pipe, possible for a single rank, is opened only once.
    for (size_t number = 0; number < paths.size() && paths.size() > 1; ++number)
        if (Result<Output> output = Output::open(paths[number], {options.file}); !output) return fail(output.error());
    for (size_t number = 0; number < processes.size(); ++number) {
        Result<Output> output = Output::open(paths[number], {options.file});
        if (!output) return fail(output.error());
        output->emitOnlyWhile([&trace] { return checkIndex(trace); });
        writeKinetoTrace(trace, processes[number], [&output](std::string_view text) {
            output->write(text);
            return output->isWanted();
        });
        if (const Result<void> closed = output->close(); !closed) return closed;
    }
    reportTraceWarnings(trace);
    return {};
}

bool isFlame(const ExportOptions& options) {
    return options.format == folded || options.format == flame || options.format == flameOfNvtx;
}

FlameBase baseOf(const ExportOptions& options) {
    if (options.format == flameOfNvtx || options.over == "ranges") return FlameBase::Ranges;
    if (options.over == "modules") return FlameBase::Modules;
    return options.over == "functions" ? FlameBase::Functions : FlameBase::Lines;
}

bool isOfThreads(const ExportOptions& options) { return options.over == threads; }

/// Returns why a flame graph has no frames.
std::string whyEmpty(const Trace& trace, const ExportOptions& options) {
    const bool isOfRange = options.range.has_value();
    if (isOfThreads(options))
        return trace.cpuStates.size() == 0 ? "the trace has no samples of threads"
               : isOfRange                 ? "no thread was sampled in this range"
                                           : "no sampled thread has a stack";
    if (trace.isEmpty() ||
        trace.kernels.size() + trace.memcpys.size() + trace.memsets.size() + trace.graphs.size() == 0)
        return "the trace has no GPU work";
    return isOfRange ? "no GPU work is in this range" : "no launch of its GPU work is known";
}

FlameTree flameOf(const Trace& trace, const ExportOptions& options) {
    const auto make = isOfThreads(options) ? makeThreadFlame : makeFlame;
    return make(trace, baseOf(options), options.range);
}

void writeFlame(const FlameTree& tree, const Trace& trace, const ExportOptions& options, const TextSink& sink) {
    const std::string_view what = isOfThreads(options) ? "time of threads by stack" : describe(baseOf(options));
    if (options.format == folded)
        writeFolded(tree, 0, sink);
    else
        writeFlameSvg(tree, 0, fmt::format("{}: {}", trace.title, what), sink);
}

/// Fails with a sentence if the options contradict each other.
Result<void> checkOptions(const ExportOptions& options) {
    if (options.range && !isFlame(options))
        return fail("--range: only for {}, {} and {}. Other formats export the whole trace.", folded, flame,
                    flameOfNvtx);
    if (options.isOverGiven && options.format != folded && options.format != flame)
        return fail("--over: only for {} and {}. Choose one with -f.", folded, flame);
    if (options.format == "sqlite" && options.output.empty())
        return fail("--output: a trace cannot be written to stdout. Name a file.");
    if (options.format == "perfetto" && options.output.empty() && ::isatty(STDOUT_FILENO) == 1)
        return fail("--format perfetto: binary data cannot be shown by a terminal. Name a file with -o.");
    return {};
}

Result<int> runExport(const ExportOptions& options) {
    if (options.format == "sqlite") {
        const std::array<std::filesystem::path, 1> inputs{options.file};
        if (const Result<void> place = checkPlaceForTrace(options.output, inputs); !place) return fail(place.error());
    }
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    if (options.format == "sqlite" || options.format == "kineto") {
        const Result<void> written =
            options.format == "sqlite" ? runSqliteExport(**trace, options) : runKinetoExport(**trace, options);
        return written ? Result<int>(exitOk) : fail(written.error());
    }
    std::optional<FlameTree> tree;
    if (isFlame(options)) {
        tree = flameOf(**trace, options);
        if (tree->isEmpty()) {
            if (const Result<void> sound = checkIndex(**trace); !sound) return fail(sound.error());
            reportTraceWarnings(**trace);
            printMessage(fmt::format("{}: the {} graph is empty: {}.", options.file, options.format,
                                     whyEmpty(**trace, options)));
            return exitNoAnswer;
        }
    }
    Result<Output> output = Output::open(options.output, {options.file});
    if (!output) return fail(output.error());
    output->emitOnlyWhile([&trace] { return checkIndex(**trace); });
    const auto write = [&output](std::string_view text) {
        output->write(text);
        return output->isWanted();
    };
    if (tree)
        writeFlame(*tree, **trace, options, write);
    else
        writePerfettoTrace(**trace, write);
    if (const Result<void> closed = output->close(); !closed) return fail(closed.error());
    reportTraceWarnings(**trace);
    return exitOk;
}

struct PageOptions {
    std::string file;
    std::string output;
    report::TimelineRequest request;
};

Result<void> writePage(const PageOptions& options) {
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    Result<Output> output = Output::open(options.output, {options.file});
    if (!output) return fail(output.error());
    output->emitOnlyWhile([&trace] { return checkIndex(**trace); });
    const Result<std::string> page = report::tracePage(**trace, options.request);
    if (!page) return fail(page.error());
    output->write(*page);
    const Result<void> closed = output->close();
    if (closed) reportTraceWarnings(**trace);
    return closed;
}

}  // namespace

void addExport(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<ExportOptions>();
    CLI::App* command = app.add_subcommand("export", "Convert a trace to the format of another tool");
    command->add_option("FILE", options->file, readableFormats())->required();
    help::addOneOf(*command, "-f,--format", {"perfetto", "kineto", folded, flame, flameOfNvtx, "sqlite"},
                   options->format,
                   "perfetto: packets for ui.perfetto.dev; kineto: JSON as torch.profiler writes it, one file per "
                   "rank; folded: GPU time by Python stack, for flame graphs; flame: flame graph as SVG; flame-ranges: "
                   "flame graph of NVTX ranges; sqlite: convert another profiler's file to a Lanescope trace");
    help::addOneOf(*command, "--over", {"lines", "functions", "ranges", "modules", threads}, options->over,
                   "Flame graph (folded, flame) of GPU time by Python line, function, NVTX range or PyTorch module; or "
                   "threads: CPU time by thread and stack");
    help::addParsed(*command, "--range", "START:END", parseRange, options->range,
                    "Only this time range (folded, flame): 6.1s:6.2s, in timeline time");
    addOutputFile(*command, options->output);
    command->footer(
        "A trace is SQLite with the tables of an Nsight Systems export, so it needs no export for SQL.\nTables as CSV "
        "or JSON: see 'lanescope stats --help'.\n\nExamples:\n  lanescope export run.sqlite -o run.pftrace\n  "
        "lanescope export run.sqlite | gzip > run.pftrace.gz\n  lanescope export -f kineto run.sqlite -o run.json\n  "
        "lanescope export -f flame-ranges run.sqlite -o run.svg\n  lanescope export -f flame --over functions --range "
        "6.1s:6.2s run.sqlite -o run.svg\n  lanescope export -f folded --over threads run.sqlite > threads.folded\n  "
        "lanescope export -f sqlite torch.json.gz -o run.sqlite");
    command->callback([options, command, &exitStatus] {
        options->isOverGiven = command->count("--over") > 0;
        const Result<void> checked = checkOptions(*options);
        exitStatus = checked ? statusOf(runExport(*options)) : reportFailure(checked.error(), exitUsage);
    });
}

void addPage(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<PageOptions>();
    CLI::App* command = app.add_subcommand("page", "Write a timeline as one HTML file for any browser");
    command->add_option("FILE", options->file, readableFormats())->required();
    CLI::Option* const steps = help::addParsed(
        *command, "--steps", "A-B", parseStepNumbers, options->request.steps,
        "Show steps A to B in full, by number: 10-12, or 7 (default: three steps around the largest finding)");
    help::addParsed(*command, "--time", "START:END", parseRange, options->request.time,
                    "Show this time in full: START:END in timeline time, in seconds or with a unit (s, ms, us, ns)")
        ->excludes(steps);
    command->add_flag("--anonymous", options->request.isAnonymous, "Omit folders, and names of hosts and users");
    addOutputFile(*command, options->output);
    command->footer(
        "The page has the whole run coarsely, and a part of it with every slice, flow and gap.\n\nExamples:\n  "
        "lanescope page run.sqlite -o run.html\n  lanescope page run.sqlite --steps 10-12 --anonymous -o run.html");
    command->callback([options, &exitStatus] { exitStatus = statusOf(writePage(*options)); });
}

}  // namespace lanescope::cli
