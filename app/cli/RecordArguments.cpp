#include "app/cli/RecordArguments.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace lanescope {

namespace {

/// A year: a longer time in seconds is a mistake.
constexpr double longestSeconds = 366.0 * 24 * 3600;
constexpr uint32_t mostWindows = 1'000'000'000;
constexpr uint64_t bytesPerMb = 1 << 20;
constexpr double fastestCounters = 100;
constexpr double slowestMetrics = 1, fastestMetrics = 10'000;

/// What is wrong with the name of a trace; empty if nothing.
std::string outputProblem(const std::string& name) {
    if (name.empty()) return "The output name is empty";
    if (name == "-") return "A trace cannot go to standard output: name a file";
    return {};
}

std::string secondsProblem(const std::string& text) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(seconds) &&
        seconds >= 0.001 && seconds <= longestSeconds)
        return {};
    return "\"" + text + "\" is no time: give seconds, at least 0.001";
}

std::string rangeProblem(const std::string& text) {
    static constexpr std::string_view nvtx = "nvtx:";
    if (text == "cudaProfilerApi") return {};
    if (text.starts_with(nvtx) && text.size() > nvtx.size() && text[nvtx.size()] != '@') return {};
    return "\"" + text + "\" is no range: give cudaProfilerApi or nvtx:RANGE[@DOMAIN]";
}

/// "A-B" or "A".
std::optional<capture::CaptureWindows::Steps> parseSteps(std::string_view text) {
    capture::CaptureWindows::Steps steps;
    const auto number = [](std::string_view digits, int64_t& value) {
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc{} && end == digits.data() + digits.size();
    };
    const size_t dash = text.find('-');
    if (!number(text.substr(0, dash), steps.first)) return std::nullopt;
    steps.last = steps.first;
    if (dash != text.npos && !number(text.substr(dash + 1), steps.last)) return std::nullopt;
    if (steps.first < 0 || steps.last < steps.first) return std::nullopt;
    return steps;
}

std::string stepsProblem(const std::string& text) {
    if (parseSteps(text)) return {};
    return "\"" + text + "\" names no steps: give A-B, two numbers from 0 in order, or one";
}

std::string sizeProblem(uint64_t bytes) {
    if (bytes >= bytesPerMb) return {};
    return "A log needs at least 1MB";
}

int64_t milliseconds(double seconds) {
    return std::llround(seconds * 1000);
}

}  // namespace

void RecordArguments::addTo(CLI::App& command) {
    command
        .add_option("-o,--output", options_.outputPattern,
                    "The trace; %p is the program's process id, %n the first free number, %h the "
                    "host, %q{NAME} an environment variable "
                    "(default: lanescope-<program>-<n>.sqlite)")
        ->type_name("FILE")
        ->check(CLI::Validator(outputProblem, ""));
    command.add_flag("--force", options_.overwrite, "Overwrite the trace if it exists");
    addWhat(command);
    addSamplers(command);
    addWhen(command);
    command.add_option("--agent", agent_, "The agent to load instead of ours")
        ->type_name("FILE")
        ->group("Around the recording");
    command
        .add_option("--wait", wait_,
                    "main: until the program has ended, and a little for others of its run; all: "
                    "until the last of them has ended, or Ctrl-C")
        ->check(CLI::IsMember({"main", "all"}))
        ->capture_default_str()
        ->group("Around the recording");
    command.add_flag("--keep-logs", options_.keepLogs, "Leave the agent's logs beside the trace")
        ->group("Around the recording");
    command.add_option("PROGRAM", options_.commandLine, "The program and its arguments")
        ->required();
}

void RecordArguments::addWhat(CLI::App& command) {
    capture::AgentRequest& request = options_.agentRequest;
    const auto inGroup = [](CLI::Option* option) { option->group("What is recorded"); };
    inGroup(command.add_flag("--no-cuda", noCuda_, "Record no CUDA activity"));
    inGroup(command.add_flag("--no-nvtx", noNvtx_, "Record no NVTX ranges"));
    inGroup(command
                .add_option("--api", request.api,
                            "CUDA calls. filtered: the driver's that launch, copy, set, wait, "
                            "allocate or load code; launch: those that start GPU work or wait for "
                            "it; all: the runtime's as well, which costs more; none: GPU work only")
                ->check(CLI::IsMember({"filtered", "launch", "all", "none"}))
                ->capture_default_str());
    inGroup(command
                .add_option("--graphs", graphs_,
                            "CUDA graphs. node: every kernel in them, slower; whole: each launch "
                            "as one slice")
                ->check(CLI::IsMember({"whole", "node"}))
                ->capture_default_str());
    inGroup(command.add_flag("!--no-memsets", request.memsets,
                             "Record no memsets; recording makes each take the GPU 2 us longer"));
    inGroup(command.add_flag("--memory", request.memory,
                             "Also record allocations of device memory and memory pools"));
    inGroup(command.add_flag("--unified-memory", request.unifiedMemory,
                             "Also record migrations and page faults of managed memory"));
    inGroup(command
                .add_option("--nccl", nccl_,
                            "nvtx: NCCL's calls by its NVTX ranges; plugin: also by NCCL's "
                            "profiler interface, with data types and algorithms")
                ->check(CLI::IsMember({"nvtx", "plugin"}))
                ->capture_default_str());
    inGroup(command.add_flag("--yield", request.yieldsCupti,
                             "Leave CUPTI to a tool inside the program, such as torch.profiler; "
                             "NVTX is recorded all the same"));
    inGroup(command
                .add_option("--only", request.only,
                            "Record only processes of the program PATTERN, such as python*; may be "
                            "given again")
                ->type_name("PATTERN")
                ->allow_extra_args(false));
    inGroup(command
                .add_option("--max-size", maximumBytes_,
                            "The most that the log of one process may hold, such as 500MB or 4GB")
                ->type_name("SIZE")
                ->transform(CLI::AsSizeValue(false))
                ->check(CLI::Validator(
                    [](const std::string& bytes) { return sizeProblem(std::stoull(bytes)); }, "")));
}

void RecordArguments::addSamplers(CLI::App& command) {
    const auto inGroup = [](CLI::Option* option) { option->group("What is sampled beside it"); };
    inGroup(command
                .add_option("--sample", options_.counterHz,
                            "How often a second the GPUs (NVML, GPM), NVLinks and the host are "
                            "asked how busy they are; 0: never")
                ->type_name("HZ")
                ->check(CLI::Range(0.0, fastestCounters))
                ->capture_default_str());
    inGroup(command.add_flag("--no-sample", noSample_, "As --sample 0"));
    inGroup(command.add_flag("--gpu-metrics{1000}", options_.metricsHz,
                             "Sample the GPUs' hardware counters (SMs, tensor cores, DRAM, PCIe, "
                             "NVLink) so often a second, --gpu-metrics=HZ, at most 10000; needs "
                             "the permission to read them"));
    inGroup(command
                .add_option("--sample-at", options_.agentRequest.sampleAt,
                            "Also read the counters of NVLinks and energy whenever an NVTX range "
                            "of that name begins or ends; * stands for anything: \"epoch*\"")
                ->type_name("RANGE"));
}

void RecordArguments::addWhen(CLI::App& command) {
    capture::CaptureWindows& windows = options_.agentRequest.windows;
    const auto inGroup = [](CLI::Option* option) { option->group("When it is recorded"); };
    inGroup(command.add_option("--delay", delaySeconds_, "Record from so many seconds on")
                ->type_name("SECONDS")
                ->check(CLI::Validator(secondsProblem, "")));
    inGroup(command.add_option("--duration", durationSeconds_, "Record for so many seconds")
                ->type_name("SECONDS")
                ->check(CLI::Validator(secondsProblem, "")));
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
    inGroup(command
                .add_option("--repeat", windows.repeat,
                            "With --capture-range: record so many ranges and no more; 0: all")
                ->check(CLI::Range(0u, mostWindows))
                ->capture_default_str());
    inGroup(command
                .add_option("--kill", kill_,
                            "When the last of what is to be recorded is over. no: the program "
                            "runs on, unrecorded; sigterm: it is ended by SIGTERM")
                ->check(CLI::IsMember({"no", "sigterm"}))
                ->capture_default_str());
}

Result<capture::CaptureWindows> RecordArguments::windows() const {
    capture::CaptureWindows windows = options_.agentRequest.windows;
    windows.delayMs = milliseconds(delaySeconds_);
    windows.durationMs = milliseconds(durationSeconds_);
    windows.range = range_;
    const bool hasRange = !range_.empty();
    const bool hasSteps = !steps_.empty();
    if (hasRange && hasSteps)
        return fail("--capture-range and --steps both say what to record: leave one out.");
    if (!hasSteps && !stepRange_.empty())
        return fail("--step-range tells steps apart: say which to record with --steps A-B.");
    if (windows.repeat != 1 && !hasRange)
        return fail("--repeat counts ranges: name them with --capture-range.");
    if (noCuda_ && range_ == "cudaProfilerApi")
        return fail("--capture-range cudaProfilerApi needs CUDA: leave --no-cuda out.");
    if (noNvtx_ && ((hasRange && range_ != "cudaProfilerApi") || hasSteps))
        return fail("{} needs NVTX: leave --no-nvtx out.",
                    hasSteps ? "--steps" : "--capture-range");
    if (hasSteps) {
        windows.steps = parseSteps(steps_);
        windows.steps->range = stepRange_;
    }
    return windows;
}

Result<capture::RecordOptions> RecordArguments::options() const {
    capture::RecordOptions options = options_;
    options.agent = agent_;
    options.waitForAll = wait_ == "all";
    capture::AgentRequest& request = options.agentRequest;
    request.cuda = !noCuda_;
    request.nvtx = !noNvtx_;
    request.wholeGraphs = graphs_ == "whole";
    request.ncclPlugin = nccl_ == "plugin";
    request.maximumLogMb = maximumBytes_ / bytesPerMb;
    if (noCuda_ && noNvtx_ && !request.ncclPlugin)
        return fail("With --no-cuda and --no-nvtx there is nothing to record.");
    auto windows = this->windows();
    if (!windows) return fail(windows.error());
    request.windows = std::move(*windows);
    if (noSample_) options.counterHz = 0;
    if (options.metricsHz != 0 &&
        !(options.metricsHz >= slowestMetrics && options.metricsHz <= fastestMetrics))
        return fail("--gpu-metrics takes from {:g} to {:g} samples a second.", slowestMetrics,
                    fastestMetrics);
    if (!request.sampleAt.empty() && options.counterHz == 0)
        return fail("--sample-at reads counters: leave --no-sample and --sample 0 out.");
    if (!request.sampleAt.empty() && noNvtx_)
        return fail("--sample-at needs NVTX: leave --no-nvtx out.");
    options.killsAtEnd = kill_ == "sigterm";
    if (options.killsAtEnd && !request.windows.count())
        return fail(
            "--kill sigterm waits for the end of what is recorded: give --duration, --steps, or "
            "--capture-range with --repeat above 0.");
    return options;
}

}  // namespace lanescope
