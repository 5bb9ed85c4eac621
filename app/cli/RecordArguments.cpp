// SPDX-License-Identifier: Apache-2.0
#include "app/cli/RecordArguments.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "app/help/HelpFormatter.h"
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
                return fmt::format("\"{}\" is no size: write bytes, or a size such as 500MB or 4GB",
                                   printable(text));
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

/// Returns the problem of a trace name; empty if none.
std::string outputProblem(const std::string& name) {
    if (name == "-") return "A trace cannot go to standard output: name a file";
    return {};
}

/// Parses a delay or duration, in whole milliseconds as in the agent.
std::optional<int64_t> parseTime(const std::string& text) {
    const std::optional<int64_t> ns = parseDuration(text);
    if (!ns || *ns < nsPerMs || *ns > maxTimeNs) return std::nullopt;
    return *ns / nsPerMs * nsPerMs;
}

std::string timeProblem(const std::string& text) {
    if (parseTime(text)) return {};
    return "\"" + text + "\" is no time: give seconds, at least 0.001, or write a unit behind it";
}

std::string rangeProblem(const std::string& text) {
    agent::WindowOptions windows;
    if (agent::setTriggerRange(text, windows)) return {};
    return "\"" + text + "\" is no range: give cudaProfilerApi or nvtx:RANGE[@DOMAIN]";
}

std::string stepsProblem(const std::string& text) {
    if (parseStepRange(text)) return {};
    return "\"" + text + "\" names no steps: give A-B, two numbers from 0 in order, or one";
}

std::string sizeProblem(uint64_t bytes) {
    if (bytes >= bytesPerMb) return {};
    return "A log needs at least 1MB";
}

std::string reserveProblem(uint64_t bytes) {
    if (bytes >= bytesPerMb || bytes == 0) return {};
    return "A reserve of the disk is at least 1MB, or 0 for none";
}

}  // namespace

void RecordArguments::addTo(CLI::App& command) {
    help::acceptOutputPath(
        command.add_option("-o,--output", options_.outputPattern,
                           "The trace; %p is the program's process id, %n the first free number, "
                           "%h the host, %q{NAME} an environment variable "
                           "(default: lanescope-<program>-<n>.sqlite)"),
        "FILE")
        ->check(CLI::Validator(outputProblem, ""));
    command.add_flag("--force", options_.overwrite, "Overwrite the trace if it exists");
    help::acceptNumber(
        command.add_option("--repeat", repeats_,
                           "Run the program so many times, one after the other, for a trace of "
                           "each run; a name without %n gets -%n before its ending"),
        "N", 1, maxRepeats)
        ->capture_default_str();
    addRecordingOptions(command);
    command
        .add_option("--summary", summaries_,
                    "Also write the summary of the trace, which 'lanescope fleet' reads, into "
                    "that folder")
        ->type_name("FOLDER")
        ->check(CLI::ExistingDirectory.description(""))
        ->group("Around the recording");
    command.add_flag("--keep-logs", options_.keepLogs, "Leave the agent's logs beside the trace")
        ->group("Around the recording");
    command.add_option("PROGRAM", options_.commandLine, "The program and its arguments")
        ->required();
}

void RecordArguments::addRecordingOptions(CLI::App& command) {
    addWhat(command);
    addSamplers(command);
    addWhen(command);
    command.add_option("--agent", agent_, "The agent to load instead of ours")
        ->type_name("FILE")
        ->group("Around the recording");
    help::acceptOneOf(
        command.add_option(
            "--wait", wait_,
            "main: until the program has ended, and a little for others of its run; all: "
            "until the last of them has ended, or Ctrl-C"),
        {"main", "all"})
        ->capture_default_str()
        ->group("Around the recording");
}

void RecordArguments::addWhat(CLI::App& command) {
    agent::AgentOptions& asked = options_.agentOptions;
    const auto inGroup = [](CLI::Option* option) { option->group("What is recorded"); };
    inGroup(command.add_flag("--no-cuda", noCuda_, "Record no CUDA activity"));
    inGroup(command.add_flag("--no-nvtx", noNvtx_, "Record no NVTX ranges"));
    inGroup(help::acceptOneOf(
                command.add_option(
                    "--api", api_,
                    "CUDA calls. filtered: the driver's that launch, copy, set, wait, "
                    "allocate or load code; launch: those that start GPU work or wait for "
                    "it; all: the runtime's as well, which costs more; none: GPU work only"),
                {"filtered", "launch", "all", "none"})
                ->capture_default_str());
    inGroup(
        help::acceptOneOf(command.add_option(
                              "--graphs", graphs_,
                              "CUDA graphs. node: every kernel in them, slower; whole: each launch "
                              "as one slice"),
                          {"whole", "node"})
            ->capture_default_str());
    inGroup(command.add_flag("!--no-python", asked.recordPython,
                             "Record no Python stacks, of CUDA calls and of threads: functions, "
                             "files and lines"));
    inGroup(command.add_flag("!--no-memsets", asked.recordMemsets,
                             "Record no memsets; recording makes each take the GPU 2 us longer"));
    inGroup(command.add_flag("--memory", asked.recordMemory,
                             "Also record allocations of device memory and memory pools"));
    inGroup(command.add_flag("--unified-memory", asked.recordUnifiedMemory,
                             "Also record migrations and page faults of managed memory"));
    inGroup(help::acceptOneOf(
                command.add_option("--nccl", nccl_,
                                   "nvtx: NCCL's calls by its NVTX ranges; plugin: also by NCCL's "
                                   "profiler interface, with data types and algorithms"),
                {"nvtx", "plugin"})
                ->capture_default_str());
    inGroup(command.add_flag("--yield", asked.yieldCupti,
                             "Leave CUPTI to a tool inside the program, such as torch.profiler; "
                             "NVTX is recorded all the same"));
    inGroup(command
                .add_option("--only", asked.only,
                            "Record only processes of the program PATTERN, such as python*; may be "
                            "given again")
                ->type_name("PATTERN")
                ->allow_extra_args(false));
    inGroup(command.add_flag("--keep-command-line", asked.keepsCommandLine,
                             "Keep command lines as they are, with what looks like a secret"));
    inGroup(
        command
            .add_option("--disk-reserve", reserveBytes_,
                        "End recording when the disk has no more than that left, such as 10GB; "
                        "0: never (default: a twentieth of it, 1GB at most)")
            ->type_name("SIZE")
            ->transform(sizeInBytes())
            ->check(CLI::Validator(
                [](const std::string& bytes) { return reserveProblem(std::stoull(bytes)); }, "")));
    inGroup(command
                .add_option("--max-size", maxLogBytes_,
                            "The most that the log of one process may hold, such as 500MB or 4GB")
                ->type_name("SIZE")
                ->transform(sizeInBytes())
                ->check(CLI::Validator(
                    [](const std::string& bytes) { return sizeProblem(std::stoull(bytes)); }, "")));
}

void RecordArguments::addSamplers(CLI::App& command) {
    const auto inGroup = [](CLI::Option* option) { option->group("What is sampled beside it"); };
    inGroup(help::acceptNumber(
                command.add_option("--sample", options_.counterHz,
                                   "How often a second the GPUs (NVML, GPM), NVLinks and the host "
                                   "are asked how busy they are, at most 100; 0: never"),
                "HZ", 0, fastestCounters)
                ->capture_default_str());
    inGroup(command.add_flag("--no-sample", noSample_, "As --sample 0"));
    inGroup(help::acceptNumber(
                command.add_option("--threads", options_.threadsHz,
                                   "How often a second CPU threads are looked at: running, or "
                                   "waiting for what, at which line of Python; at most 1000; 0: "
                                   "never"),
                "HZ", 0, fastestThreads)
                ->capture_default_str());
    inGroup(command.add_flag("--no-threads", noThreads_, "As --threads 0"));
    inGroup(help::acceptOneOf(
                command.add_option("--cpu-samples", cpuSamples_,
                                   "perf: have the kernel tell when each thread got or lost a "
                                   "core, and sample native stacks, Python within; needs the "
                                   "permission for perf events (doctor tells). no: do not"),
                {"no", "perf"})
                ->capture_default_str());
    inGroup(help::acceptNumber(command.add_option("--cpu-samples-hz", cpuSamplesHz_,
                                                  "With --cpu-samples: so many samples of each "
                                                  "second that a thread has a core, at most 2000"),
                               "HZ", 1, capture::maxPerfHz)
                ->capture_default_str());
    inGroup(
        command
            .add_flag("--gpu-metrics{1000}", options_.metricsHz,
                      "Sample the GPUs' hardware counters (SMs, tensor cores, DRAM, PCIe, "
                      "NVLink) so often a second: 1000 times unless given, at most 10000; needs "
                      "the permission to read them")
            ->option_text("[=HZ]"));
    inGroup(command
                .add_option("--sample-at", options_.agentOptions.sampleAt,
                            "Also read the counters of NVLinks and energy whenever an NVTX range "
                            "of that name begins or ends; * stands for anything: \"epoch*\"")
                ->type_name("RANGE"));
}

void RecordArguments::addWhen(CLI::App& command) {
    agent::WindowOptions& windows = options_.agentOptions.windows;
    const auto inGroup = [](CLI::Option* option) { option->group("When it is recorded"); };
    inGroup(command.add_option("--delay", delay_, "Record from so many seconds on, or 500ms, 2min")
                ->type_name("SECONDS")
                ->check(CLI::Validator(timeProblem, "")));
    inGroup(
        command.add_option("--duration", duration_, "Record for so many seconds, or 500ms, 2min")
            ->type_name("SECONDS")
            ->check(CLI::Validator(timeProblem, "")));
    inGroup(command
                .add_option("--capture-range", range_,
                            "Record only between cudaProfilerStart and cudaProfilerStop "
                            "(cudaProfilerApi), or while an NVTX range is open "
                            "(nvtx:RANGE[@DOMAIN])")
                ->type_name("RANGE")
                ->check(CLI::Validator(rangeProblem, "")));
    inGroup(command
                .add_option("--steps", steps_,
                            "Record steps A to B only, A-B, counted from 0 in every process")
                ->type_name("A-B")
                ->check(CLI::Validator(stepsProblem, "")));
    inGroup(command
                .add_option("--step-range", stepRange_,
                            "The NVTX range that each step has, NAME[@DOMAIN]; * stands for "
                            "what differs (default: the names that steps commonly have)")
                ->type_name("NAME"));
    inGroup(
        help::acceptNumber(
            command.add_option("--ranges", windows.repeat,
                               "With --capture-range: record so many ranges and no more; 0: all"),
            "N", 0, maxWindows)
            ->capture_default_str());
    inGroup(
        help::acceptOneOf(
            command.add_option("--kill", kill_,
                               "When the last of what is to be recorded is over. no: the program "
                               "runs on, unrecorded; sigterm: it is ended by SIGTERM"),
            {"no", "sigterm"})
            ->capture_default_str());
}

Result<agent::WindowOptions> RecordArguments::windows() const {
    agent::WindowOptions windows = options_.agentOptions.windows;
    windows.delayNs = parseTime(delay_).value_or(0);
    windows.durationNs = parseTime(duration_).value_or(0);
    if (windows.hasTimes()) windows.trigger = agent::WindowTrigger::Time;
    const bool hasRange = !range_.empty();
    const bool hasSteps = !steps_.empty();
    if (hasRange && hasSteps)
        return fail("--capture-range and --steps both say what to record: leave one out.");
    if (!hasSteps && !stepRange_.empty())
        return fail("--step-range tells steps apart: say which to record with --steps A-B.");
    if (windows.repeat != 1 && !hasRange)
        return fail("--ranges counts ranges: name them with --capture-range.");
    if (noCuda_ && range_ == "cudaProfilerApi")
        return fail("--capture-range cudaProfilerApi needs CUDA: leave --no-cuda out.");
    if (noNvtx_ && ((hasRange && range_ != "cudaProfilerApi") || hasSteps))
        return fail("{} needs NVTX: leave --no-nvtx out.",
                    hasSteps ? "--steps" : "--capture-range");
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
    asked.recordCuda = !noCuda_;
    asked.recordNvtx = !noNvtx_;
    asked.apiCalls = agent::apiCallsNamed(api_).value_or(asked.apiCalls);
    asked.graphs = agent::graphDetailNamed(graphs_).value_or(asked.graphs);
    if (reserveBytes_ != agent::defaultReserve)
        asked.diskReserveBytes = reserveBytes_ / bytesPerMb * bytesPerMb;
    asked.maxLogBytes = maxLogBytes_ / bytesPerMb * bytesPerMb;
    if (noCuda_ && noNvtx_ && !options.ncclPlugin)
        return fail("With --no-cuda and --no-nvtx there is nothing to record.");
    auto windows = this->windows();
    if (!windows) return fail(windows.error());
    asked.windows = std::move(*windows);
    if (noSample_) options.counterHz = 0;
    if (noThreads_) options.threadsHz = 0;
    if (cpuSamples_ == "perf")
        options.cpuSamplesHz = cpuSamplesHz_;
    else if (cpuSamplesHz_ != capture::defaultPerfHz)
        return fail("--cpu-samples-hz says how often: give --cpu-samples perf, too.");
    if (options.metricsHz != 0 &&
        !(options.metricsHz >= slowestMetrics && options.metricsHz <= fastestMetrics))
        return fail("--gpu-metrics takes from {:g} to {:g} samples a second.", slowestMetrics,
                    fastestMetrics);
    if (!asked.sampleAt.empty() && options.counterHz == 0)
        return fail("--sample-at reads counters: leave --no-sample and --sample 0 out.");
    if (!asked.sampleAt.empty() && noNvtx_)
        return fail("--sample-at needs NVTX: leave --no-nvtx out.");
    options.killsAtEnd = kill_ == "sigterm";
    if (options.killsAtEnd && !asked.windows.count())
        return fail(
            "--kill sigterm waits for the end of what is recorded: give --duration, --steps, or "
            "--capture-range with --ranges above 0.");
    return options;
}

}  // namespace lanescope::cli
