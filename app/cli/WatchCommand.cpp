// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/RecordArguments.h"
#include "app/cli/RecordSupervisor.h"
#include "app/cli/recordRun.h"
#include "app/help/HelpFormatter.h"
#include "capture/log/clocks.h"
#include "capture/watch/Watcher.h"
#include "capture/watch/watchRequests.h"
#include "model/bandwidth/tensorUse.h"
#include "model/format/optionValues.h"
#include "model/text/collectiveKernels.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace {

constexpr double maxRingSeconds = 3600, maxHangSeconds = 1e6, maxBudgetPercent = 100, maxTraceCount = 1000;
constexpr uint64_t ringFactor = 4;  // free memory for a ring, in rings
constexpr int64_t maxTriggerSteps = 1'000'000;

struct WatchWords {
    RecordArguments arguments;
    capture::WatchOptions watch;
    std::vector<std::string> program;
    std::string budget = "no", stepRange, ringOn = "memory";
    int ringSeconds = 30;
    uint64_t ringMegabytes = 256;
    bool isAsleep = false;
};

std::optional<double> parseBudget(const std::string& text) {
    if (text == "no") return -1;
    const std::string number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
    char* end = nullptr;
    const double percent = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(percent >= 0 && percent <= maxBudgetPercent)) return std::nullopt;
    return percent;
}

/// Returns the name by which a program is triggered: that of its script, if it has one.
std::string nameOf(const std::vector<std::string>& program) {
    const auto script = std::ranges::find_if(
        program, [](const std::string& word) { return std::filesystem::path(word).extension() == ".py"; });
    return std::filesystem::path(script == program.end() ? program.front() : *script).filename().string();
}

/// Returns the folder for the ring: memory if it has room for several rings, else that of the output.
std::filesystem::path ringParent(const WatchWords& words, const std::filesystem::path& output) {
    if (words.ringOn == "disk") return output;
    const std::filesystem::path memory = "/dev/shm";
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(memory, error);
    if (!error && space.available >= ringFactor * (words.ringMegabytes << 20) && ::access(memory.c_str(), W_OK) == 0)
        return memory;
    reportWarning(fmt::format("{} has no room for {} MiB: the ring is in {}, on disk.", memory.string(),
                              ringFactor * words.ringMegabytes, output.string()));
    return output;
}

/// Reports rings that watches left in memory when they were killed with their supervisor.
void reportLeftRings(const std::filesystem::path& parent) {
    const Result<Folder> folder = Folder::openNamed(parent);
    if (!folder) return;
    const std::string begin = fmt::format("lanescope-{}-", ::getuid());
    for (const std::string& name : folder->names()) {
        if (!name.starts_with(begin)) continue;
        // Links of traces in the making belong to a ring.
        const std::string ring = name.substr(0, name.rfind(capture::linksMark));
        if ((ring != name && folder->contains(ring)) || !capture::RunFolder::takeOver(parent / name)) continue;
        reportWarning(fmt::format(
            "{0} is the ring of an earlier watch, in memory. Make its trace with 'lanescope recover {0}', or "
            "remove it.",
            (parent / name).string()));
    }
}

/// Makes the places of a watch, and the reader of its logs.
Result<capture::RunReading> beginWatch(const WatchWords& words, capture::WatchOptions options, int pid,
                                       const capture::RunInfo& info) {
    auto output = capture::WatchFolder::claim(options.outputPattern, pid);
    if (!output) return fail(output.error());
    const std::filesystem::path place = output->path(), parent = ringParent(words, place);
    reportLeftRings(parent);
    // Containers may share the folder, and numbers of processes.
    const std::string name = fmt::format("lanescope-{}-{}-{:x}.run", ::getuid(), pid, log::eventTimeNs());
    auto logs = capture::RunFolder::create(parent / name, info);
    if (!logs) return fail(logs.error());
    auto entry = std::make_unique<capture::WatchEntry>(
        capture::KnownWatch{::getpid(), pid, nameOf(words.program), logs->path(), place});
    auto folder = logs->folder();
    auto reader =
        std::make_unique<capture::Watcher>(folder, info, std::move(*output), std::move(options), std::move(entry));
    return capture::RunReading{{place / "ring.sqlite", std::move(*logs)}, std::move(reader)};
}

int runWatch(const std::shared_ptr<WatchWords>& words) {
    Result<capture::RecordOptions> options = words->arguments.options();
    if (!options) return reportFailure(options.error(), exitUsage);
    if (options->cpuSamplesHz > 0)
        return reportFailure({"--cpu-samples: a ring holds no perf events. Remove it, or use lanescope record."},
                             exitUsage);
    options->commandLine = words->program;
    options->agentOptions.ringNs = int64_t{words->ringSeconds} * 1'000'000'000;
    options->agentOptions.ringBytes = words->ringMegabytes << 20;
    options->agentOptions.followsLevel = true;
    options->agentOptions.beginsAsleep = words->isAsleep || environment(agent::sleepVariable) == "1";
    capture::WatchOptions watch = words->watch;
    if (watch.outputPattern.empty())
        watch.outputPattern =
            fmt::format("lanescope-watch-{}-%n", std::filesystem::path(words->program.front()).filename().string());
    watch.budgetPercent = *parseBudget(words->budget);
    watch.isAsleep = words->isAsleep || environment(agent::sleepVariable) == "1";
    watch.ringNs = options->agentOptions.ringNs;
    watch.isStep = [pattern = words->stepRange](std::string_view name) {
        return pattern.empty() ? agent::isStepName(name) : matchesPattern(name, pattern);
    };
    watch.isCollective = [](std::string_view name) { return !collectiveOperation(name).empty(); };
    watch.peakActiveHz = [](std::string_view name, const log::DeviceRecord& gpu) {
        return datasheetActiveHz(name, int(gpu.computeMajor), int(gpu.computeMinor), int(gpu.smCount));
    };
    watch.report = [](std::string_view sentence) { printMessage(std::string(sentence)); };
    options->outputPattern = watch.outputPattern;
    options->beginReading = [words, watch](int pid, const capture::RunInfo& info) {
        return beginWatch(*words, watch, pid, info);
    };
    const RunEnd end = RecordSupervisor().record(*options);
    printProblem(end);
    return end.exitStatus;
}

int runTrigger(const std::string& pidOrName, const capture::WatchRequest& request) {
    const Result<capture::KnownWatch> watch = capture::findWatch(pidOrName);
    if (!watch) return reportFailure(watch.error());
    if (auto put = capture::putRequest(watch->runFolder, request); !put) return reportFailure(put.error());
    printMessage(fmt::format("Requested. The trace will be in {}.", watch->output.string()));
    return exitOk;
}

}  // namespace

void addWatch(CLI::App& app, int& exitStatus) {
    auto words = std::make_shared<WatchWords>();
    CLI::App* command = app.add_subcommand(
        "watch", "Run a program, and keep a trace of its last seconds when a step is slow, on a hang or on request");
    command->add_option("PROGRAM", words->program, "Program and its arguments")->required();
    help::addOutputPath(*command, "-o,--output", "FOLDER", words->watch.outputPattern,
                        "Folder for traces, steps.jsonl and metrics.prom; %n, %p, %h as for record (default: "
                        "lanescope-watch-<program>-<n>)");
    help::addNumber(*command, "--ring", "SECONDS", 1, maxRingSeconds, words->ringSeconds,
                    "Seconds of the past to keep");
    help::addValue(*command, "--ring-mb", "MIB", words->ringMegabytes,
                   "Maximum size of the ring of a process in MiB (default 256)")
        ->check(CLI::Range(16, 65536).description(""));
    help::addOneOf(*command, "--ring-on", {"memory", "disk"}, words->ringOn, "Place of the ring");
    help::addValue(*command, "--budget", "PERCENT", words->budget,
                   "Maximum cost of recording in percent of the step; the level of recording follows from alternating "
                   "blocks of steps. no: record everything")
        ->check([](const std::string& text) {
            return parseBudget(text) ? std::string() : "\"" + text + "\" is not a percentage; use for example 1% or no";
        });
    command->add_flag("--asleep", words->isAsleep, "Record nothing until 'lanescope trigger'");
    help::addValue(
        *command, "--hang-after", "SECONDS", words->watch.hangSeconds,
        "Seconds without progress that make a hang (default: ten times the longest step, at least 60); -1: never")
        ->check(CLI::Range(-1.0, maxHangSeconds).description(""));
    help::addNumber(*command, "--traces-per-hour", "N", 0, maxTraceCount, words->watch.maxTracesPerHour,
                    "Maximum number of traces per hour for each cause, except for requests");
    help::addNumber(*command, "--keep-traces", "N", 1, maxTraceCount, words->watch.maxTraces,
                    "Maximum number of traces; the oldest is removed");
    help::addValue(*command, "--step-range", "NAME", words->stepRange,
                   "NVTX range that marks a step; * is a wildcard (default: common names of steps)");
    words->arguments.addDataOptions(*command, "plugin", "whole");
    command->footer(
        "Traces are made of slow steps, lasting changes, hangs, NCCL aborts, failed allocations, ended processes, the "
        "file FOLDER/dump, "
        "'lanescope trigger', lanescope.trigger() and the NVTX mark lanescope:dump.\n\nExamples:\n  lanescope watch -- "
        "torchrun "
        "--nproc-per-node 8 train.py\n  lanescope watch --asleep -o /logs/watch -- python serve.py\n  lanescope "
        "trigger serve.py --steps 20");
    command->callback([words, &exitStatus] { exitStatus = runWatch(words); });
}

void addTrigger(CLI::App& app, int& exitStatus) {
    struct Words {
        std::string target;
        capture::WatchRequest request;
        bool withPast = false;
    };
    auto words = std::make_shared<Words>();
    CLI::App* command = app.add_subcommand("trigger", "Request a trace of a program that runs under 'lanescope watch'");
    command
        ->add_option("PID|NAME", words->target,
                     "Process of the program, name of the program, or name of the watch's folder")
        ->required();
    help::addValue(*command, "--steps", "N", words->request.steps, "Record the next N steps")
        ->check(CLI::Range(int64_t{0}, maxTriggerSteps).description(""));
    command->add_flag("--past", words->withPast, "With --steps: keep the past, too");
    help::addValue(*command, "--reason", "TEXT", words->request.reason, "Text to put into the trace");
    command->footer(
        "Without --steps the trace has the past seconds of the ring.\n\nExample:\n  lanescope trigger train.py --steps "
        "20 --past");
    command->callback([words, &exitStatus] {
        words->request.hasPast = words->withPast || words->request.steps == 0;
        exitStatus = runTrigger(words->target, words->request);
    });
}

}  // namespace lanescope::cli
