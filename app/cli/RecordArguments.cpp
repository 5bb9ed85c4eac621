// SPDX-License-Identifier: Apache-2.0
#include "app/cli/RecordArguments.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "app/help/HelpFormatter.h"
#include "capture/machine/MeasuredPeaks.h"
#include "model/format/optionValues.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace {

/// Parses "500MB" into bytes. CLI11's own error for large numbers lists its factors.
CLI::Validator sizeInBytes() {
    return CLI::Validator(
        [](std::string& text) {
            std::string bytes = text;
            if (!CLI::AsSizeValue(false)(bytes).empty())
                return fmt::format("invalid size \"{}\"; use bytes, or for example 500MB or 4GB", printable(text));
            text = std::move(bytes);
            return std::string();
        },
        "");
}

constexpr int64_t nsPerMs = 1'000'000;
/// A year: a longer time is a mistake.
constexpr int64_t maxTimeNs = int64_t{366} * 24 * 3600 * 1'000'000'000;
constexpr double maxWindows = 1'000'000'000;
constexpr double maxRepeats = 10'000;
constexpr uint64_t bytesPerMb = 1 << 20;
constexpr double fastestCounters = 100, fastestThreads = 1000;
constexpr double slowestMetrics = 1, fastestMetrics = 10'000;

/// Parses a delay or duration, in whole milliseconds as in the agent.
std::optional<int64_t> parseTime(const std::string& text) {
    const std::optional<int64_t> ns = parseDuration(text);
    if (!ns || *ns < nsPerMs || *ns > maxTimeNs) return std::nullopt;
    return *ns / nsPerMs * nsPerMs;
}

/// Returns a check of an option's text. `sentence` is the problem of an invalid one, which replaces its "{}".
auto checkedBy(auto isValid, const char* sentence) {
    return [isValid, sentence](const std::string& text) {
        return isValid(text) ? std::string() : fmt::format(fmt::runtime(sentence), text);
    };
}

}  // namespace

void RecordArguments::addTo(CLI::App& command) {
    command.add_option("PROGRAM", options_.commandLine, "Program and its arguments")->required();
    help::addOutputPath(command, "-o,--output", "FILE", options_.outputPattern,
                        "Output trace; %p: process id of the program, %n: first free number, %h: host, %q{NAME}: "
                        "environment variable (default: lanescope-<program>-<n>.sqlite)")
        ->check(checkedBy([](const std::string& name) { return name != "-"; },
                          "a trace cannot be written to standard output; name a file"));
    command.add_flag("--force", options_.overwrite, "Overwrite the trace if it exists");
    help::addNumber(command, "--repeat", "N", 1, maxRepeats, repeats_,
                    "Run the program N times in a row and write one trace per run; without %n in the name, -%n is "
                    "added before the extension");
    addRecordingOptions(command);
    command.option_defaults()->group("Run and output");
    help::addValue(command, "--summary", "FOLDER", summaries_,
                   "Also write the summary of the trace, which 'lanescope fleet' reads, to this folder")
        ->check(CLI::ExistingDirectory.description(""));
    help::addValue(command, "--roofs", "FILE", options_.roofsFile,
                   "Measured peak rates of the GPUs, written by 'lanescope doctor --measure -o FILE' (default: the "
                   "rates that 'lanescope doctor --measure' stored on this machine)");
    command.add_flag("--keep-logs", options_.keepLogs, "Keep the agent's logs next to the trace");
}

void RecordArguments::addRecordingOptions(CLI::App& command) {
    const std::string groupBefore = command.option_defaults()->get_group();
    addDataOptions(command, nccl_, graphs_);
    addWhen(command);
    command.option_defaults()->group("Run and output");
    help::addOneOf(
        command, "--wait", {"main", "all"}, wait_,
        "main: wait for the program, and up to 4 s for its other processes; all: wait for all processes, or Ctrl-C");
    command.option_defaults()->group(groupBefore);
}

void RecordArguments::addDataOptions(CLI::App& command, const std::string& nccl, const std::string& graphs) {
    nccl_ = nccl;
    graphs_ = graphs;
    const std::string groupBefore = command.option_defaults()->get_group();
    addWhat(command);
    addSamplers(command);
    command.option_defaults()->group("Run and output");
    help::addValue(command, "--agent", "FILE", agent_, "Agent library to load instead of the default");
    command.option_defaults()->group(groupBefore);
}

void RecordArguments::addWhat(CLI::App& command) {
    agent::AgentOptions& asked = options_.agentOptions;
    command.option_defaults()->group("Recorded data");
    command.add_flag("!--no-cuda", asked.recordCuda, "Do not record CUDA activity");
    command.add_flag("!--no-nvtx", asked.recordNvtx, "Do not record NVTX ranges");
    help::addOneOf(
        command, "--api", {"filtered", "launch", "all", "none"}, api_,
        "CUDA calls to record. filtered: driver calls that launch, copy, memset, wait, load code or allocate; launch: "
        "calls that start GPU work or wait for it; all: also runtime calls, at a higher cost; none: GPU work only");
    help::addOneOf(command, "--graphs", {"whole", "node"}, graphs_,
                   "CUDA graphs. node: every kernel in them (slower); whole: one entry per launch");
    command.add_flag("!--no-python", asked.recordPython,
                     "Do not record Python stacks (functions, files and lines) of CUDA calls and threads");
    command.add_flag("!--no-memsets", asked.recordMemsets,
                     "Do not record memsets (recording one adds 2 us of GPU time)");
    command.add_flag("--memory", asked.recordMemory, "Also record device memory allocations and memory pools");
    command.add_flag("--unified-memory", asked.recordUnifiedMemory,
                     "Also record migrations and page faults of managed memory");
    help::addOneOf(
        command, "--nccl", {"nvtx", "plugin"}, nccl_,
        "NCCL calls. nvtx: by its NVTX ranges; plugin: also by its profiler interface, with data types and algorithms");
    command.add_flag("--yield", asked.yieldCupti,
                     "Leave CUPTI to a tool inside the program, such as torch.profiler; NVTX is still recorded");
    help::addValue(command, "--only", "PATTERN", asked.only,
                   "Record only processes of the program PATTERN, for example python*; repeatable")
        ->allow_extra_args(false);
    command.add_flag("--keep-command-line", asked.keepsCommandLine,
                     "Store command lines unchanged, including possible secrets");
    help::addValue(command, "--disk-reserve", "SIZE", reserveBytes_,
                   "Stop recording when free disk space falls to SIZE, for example 10GB; 0: never (default: 5 % of the "
                   "disk up to 1GB; more if the disk fills fast)")
        ->transform(sizeInBytes())
        ->check(checkedBy(
            [](const std::string& bytes) { return std::stoull(bytes) == 0 || std::stoull(bytes) >= bytesPerMb; },
            "the disk reserve is at least 1MB, or 0 for none"));
    help::addValue(command, "--max-size", "SIZE", asked.maxLogBytes,
                   "Maximum log size of one process, for example 500MB or 4GB; at that size only its recording stops")
        ->transform(sizeInBytes())
        ->check(checkedBy([](const std::string& bytes) { return std::stoull(bytes) >= bytesPerMb; },
                          "the log needs at least 1MB"));
}

void RecordArguments::addSamplers(CLI::App& command) {
    command.option_defaults()->group("Sampled data");
    help::addNumber(command, "--sample", "HZ", 0, fastestCounters, options_.counterHz,
                    "Sampling rate of GPU (NVML, GPM), NVLink and host counters in Hz (0-100; 0: off)");
    command.add_flag("--no-sample", noSample_, "As --sample 0");
    help::addNumber(command, "--threads", "HZ", 0, fastestThreads, options_.threadsHz,
                    "Sampling rate of CPU threads (state, wait reason, Python line) in Hz (0-1000; 0: off)");
    command.add_flag("--no-threads", noThreads_, "As --threads 0");
    help::addOneOf(command, "--cpu-samples", {"no", "perf"}, cpuSamples_,
                   "perf: record context switches and native and Python stacks with perf events (for the permission "
                   "see lanescope doctor); no: off");
    help::addNumber(command, "--cpu-samples-hz", "HZ", 1, capture::maxPerfHz, cpuSamplesHz_,
                    "With --cpu-samples: samples per second of CPU time of each thread (at most 2000)");
    command
        .add_flag("--gpu-metrics{1000}", options_.metricsHz,
                  "Sample hardware counters of the GPUs (SMs, tensor cores, DRAM, PCIe, NVLink) at "
                  "this rate in Hz (default 1000, at most 10000); needs the permission to read them")
        ->option_text("[=HZ]");
    help::addValue(command, "--sample-at", "RANGE", options_.agentOptions.sampleAt,
                   "Also read NVLink and energy counters whenever an NVTX range of this name starts or ends; * is a "
                   "wildcard: \"epoch*\"");
}

void RecordArguments::addWhen(CLI::App& command) {
    agent::WindowOptions& windows = options_.agentOptions.windows;
    const auto isTime = checkedBy([](const std::string& text) { return parseTime(text).has_value(); },
                                  "\"{}\" is not a time; use seconds, at least 0.001, or a number with a unit");
    command.option_defaults()->group("Recorded time");
    help::addValue(command, "--delay", "SECONDS", delay_,
                   "Delay before recording starts, for example 60, 500ms or 2min")
        ->check(isTime);
    help::addValue(command, "--duration", "SECONDS", duration_,
                   "Duration of the recording, for example 60, 500ms or 2min")
        ->check(isTime);
    help::addValue(command, "--capture-range", "RANGE", range_,
                   "Record only between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), or while an NVTX "
                   "range is open (nvtx:RANGE[@DOMAIN])")
        ->check(checkedBy(
            [](const std::string& text) {
                agent::WindowOptions ignored;
                return agent::setTriggerRange(text, ignored);
            },
            "\"{}\" is not a range; use cudaProfilerApi or nvtx:RANGE[@DOMAIN]"));
    help::addValue(command, "--steps", "A-B", steps_, "Record only steps A to B (A-B, 0-based, per process)")
        ->check(checkedBy([](const std::string& text) { return parseStepRange(text).has_value(); },
                          "\"{}\" is not a range of steps; use A-B, two ascending numbers from 0, or one number"));
    help::addValue(command, "--step-range", "NAME", stepRange_,
                   "With --steps: NVTX range of a step, NAME[@DOMAIN]; * is a wildcard (default: common step names)");
    help::addNumber(command, "--ranges", "N", 0, maxWindows, windows.repeat,
                    "With --capture-range: record only the first N ranges; 0: all");
    help::addOneOf(
        command, "--kill", {"no", "sigterm"}, kill_,
        "After the last recorded window: no: let the program continue, unrecorded; sigterm: terminate the program");
}

Result<agent::WindowOptions> RecordArguments::windows() const {
    agent::WindowOptions windows = options_.agentOptions.windows;
    windows.delayNs = parseTime(delay_).value_or(0);
    windows.durationNs = parseTime(duration_).value_or(0);
    if (windows.hasTimes()) windows.trigger = agent::WindowTrigger::Time;
    const bool hasRange = !range_.empty();
    const bool hasSteps = !steps_.empty();
    if (hasRange && hasSteps) return fail("--capture-range and --steps exclude each other. Remove one of them.");
    if (!hasSteps && !stepRange_.empty())
        return fail("--step-range: names the steps only. Choose the recorded steps with --steps A-B.");
    if (windows.repeat != 1 && !hasRange) return fail("--ranges: counts ranges. Name them with --capture-range.");
    if (!options_.agentOptions.recordCuda && range_ == "cudaProfilerApi")
        return fail("--capture-range cudaProfilerApi: needs CUDA. Remove --no-cuda.");
    if (!options_.agentOptions.recordNvtx && ((hasRange && range_ != "cudaProfilerApi") || hasSteps))
        return fail("{}: needs NVTX. Remove --no-nvtx.", hasSteps ? "--steps" : "--capture-range");
    if (hasRange) agent::setTriggerRange(range_, windows);
    if (const auto steps = parseStepRange(steps_)) {
        windows.trigger = agent::WindowTrigger::Steps;
        windows.steps = *steps;
        agent::setRange(stepRange_, windows);
    }
    return windows;
}

Result<capture::RecordOptions> RecordArguments::options() const {
    capture::RecordOptions options = options_;
    options.agent = agent_;
    options.waitForAll = wait_ == "all";
    options.ncclPlugin = nccl_ == "plugin";
    agent::AgentOptions& asked = options.agentOptions;
    asked.apiCalls = agent::apiCallsNamed(api_).value_or(asked.apiCalls);
    asked.graphs = agent::graphDetailNamed(graphs_).value_or(asked.graphs);
    if (reserveBytes_ != agent::defaultReserve) asked.diskReserveBytes = reserveBytes_ / bytesPerMb * bytesPerMb;
    asked.maxLogBytes -= asked.maxLogBytes % bytesPerMb;
    if (!asked.recordCuda && !asked.recordNvtx && !options.ncclPlugin)
        return fail("--no-cuda and --no-nvtx: nothing is left to record. Remove one of them.");
    auto windows = this->windows();
    if (!windows) return fail(windows.error());
    if (!options.roofsFile.empty()) {
        const auto roofs = capture::MeasuredPeaks::load(options.roofsFile);
        if (!roofs) return fail("--roofs: {}", roofs.error().sentence);
        options.roofsFile = std::filesystem::absolute(options.roofsFile).string();
    }
    asked.windows = std::move(*windows);
    if (noSample_) options.counterHz = 0;
    if (noThreads_) options.threadsHz = 0;
    if (cpuSamples_ == "perf")
        options.cpuSamplesHz = cpuSamplesHz_;
    else if (cpuSamplesHz_ != capture::defaultPerfHz)
        return fail("--cpu-samples-hz: needs --cpu-samples perf. Add it.");
    if (options.metricsHz != 0 && !(options.metricsHz >= slowestMetrics && options.metricsHz <= fastestMetrics))
        return fail("--gpu-metrics: the rate must be {:g} to {:g} Hz.", slowestMetrics, fastestMetrics);
    if (!asked.sampleAt.empty() && options.counterHz == 0)
        return fail("--sample-at: reads counters. Remove --no-sample and --sample 0.");
    if (!asked.sampleAt.empty() && !asked.recordNvtx) return fail("--sample-at: needs NVTX. Remove --no-nvtx.");
    options.killsAtEnd = kill_ == "sigterm";
    if (options.killsAtEnd && !asked.windows.count())
        return fail(
            "--kill sigterm: needs an end of the recording. Add --duration, --steps, or "
            "--capture-range with --ranges above 0.");
    return options;
}

}  // namespace lanescope::cli
