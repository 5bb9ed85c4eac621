#include "app/cli/RecordCommand.h"

#include <fmt/format.h>

#include <memory>

#include "app/cli/Command.h"
#include "app/cli/runReport.h"
#include "capture/record/Recorder.h"

namespace lanescope {

namespace {

/// What `env` and `nohup` give back for a program that cannot be started.
constexpr int exitProgramNotFound = 127;
constexpr int exitProgramCannotRun = 126;
constexpr const char* commandName = "record";

int exitStatusOf(RefusalCause cause) {
    switch (cause) {
        case RefusalCause::NoProgram:
            return exitProgramNotFound;
        case RefusalCause::ProgramCannotRun:
            return exitProgramCannotRun;
        case RefusalCause::Recording:
            break;
    }
    return exitFailed;
}

/// Why there may be nothing in the trace. What a process did in its first moments is not in a log
/// yet.
std::string nothingSentence(const RecordOutcome& outcome) {
    std::string reason =
        "it used neither CUDA nor NVTX, or left within its first moments without its exit "
        "handlers, or cleared the environment";
    if (outcome.exitStatus > 128)
        reason = fmt::format(
            "signal {} ended it before it used CUDA or NVTX, or within the first moments after",
            outcome.exitStatus - 128);
    return fmt::format("Nothing was recorded of {}: {}. {} holds no event.", outcome.program,
                       reason, outcome.run->trace.string());
}

/// What is wrong with the name of a trace; empty if nothing.
std::string outputProblem(const std::string& name) {
    if (name.empty()) return "The output name is empty";
    if (name == "-") return "A trace cannot go to standard output: name a file";
    return {};
}

int runRecord(const RecordOptions& options) {
    const auto outcome = record(options);
    if (!outcome) {
        reportFailure(outcome.error().error);
        return exitStatusOf(outcome.error().cause);
    }
    if (!outcome->run) {
        reportFailure(outcome->run.error());
        say(
            fmt::format("The logs are kept: make the trace with 'lanescope recover {}', on another "
                        "disk with -o.",
                        outcome->keptLogs.string()));
        return outcome->exitStatus != 0 ? outcome->exitStatus : exitFailed;
    }
    if (outcome->run->processes == 0)
        say(nothingSentence(*outcome));
    else
        sayWhatIsIn(*outcome->run);
    reportWarnings(*outcome->run);
    if (!outcome->keptLogs.empty())
        say(fmt::format("The logs are in {}.", outcome->keptLogs.string()));
    return outcome->exitStatus;
}

}  // namespace

void addRecord(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<RecordOptions>();
    auto agent = std::make_shared<std::string>();
    auto wait = std::make_shared<std::string>("main");
    auto noCuda = std::make_shared<bool>(false);
    auto noNvtx = std::make_shared<bool>(false);
    auto allApiCalls = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand(
        commandName, "Run a program and record what it and its children do on the GPUs");
    command
        ->add_option("-o,--output", options->outputPattern,
                     "The trace; %p is the program's process id, %h the host, %q{NAME} an "
                     "environment variable (default: lanescope-<program>-<n>.sqlite)")
        ->check(CLI::Validator(outputProblem, ""));
    command->add_flag("--force", options->overwrite, "Overwrite the trace if it exists");
    command->add_flag("--no-cuda", *noCuda, "Record no CUDA activity");
    command->add_flag("--no-nvtx", *noNvtx, "Record no NVTX ranges, so no NCCL calls either");
    command->add_flag("--all-api-calls", *allApiCalls,
                      "Also record CUDA calls that only ask, such as cudaGetDevice; slower");
    command->add_option("--agent", *agent, "The agent to load instead of ours");
    command
        ->add_option("--wait", *wait,
                     "main: until the program has ended, and a little for others of its run; all: "
                     "until the last of them has ended, or Ctrl-C")
        ->check(CLI::IsMember({"main", "all"}))
        ->capture_default_str();
    command->add_flag("--keep-logs", options->keepLogs, "Leave the agent's logs beside the trace");
    command->add_option("PROGRAM", options->commandLine, "The program and its arguments")
        ->required();
    command->footer(
        "The exit status is the program's; 128 and the signal's number if a signal ended it.\n\n"
        "Examples:\n"
        "  lanescope record -- python train.py --epochs 1\n"
        "  lanescope record -o run-%h.sqlite -- torchrun --nproc-per-node 8 train.py");
    command->callback([options, agent, wait, noCuda, noNvtx, allApiCalls, &exitStatus] {
        options->agent = *agent;
        options->waitForAll = *wait == "all";
        options->agentRequest = {!*noCuda, !*noNvtx, *allApiCalls};
        exitStatus = runRecord(*options);
    });
}

void separateProgram(const CLI::App& app, std::vector<std::string>& words) {
    if (words.empty() || words.front() != commandName) return;
    const CLI::App* command = app.get_subcommand(commandName);
    for (size_t at = 1; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--") return;
        if (word.size() < 2 || word.front() != '-') {
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "--");
            return;
        }
        const size_t nameLength = word.starts_with("--") ? word.find('=') : 2;
        const CLI::Option* option = command->get_option_no_throw(word.substr(0, nameLength));
        if (option == nullptr)
            throw CLI::ParseError(fmt::format("'lanescope record' has no option {}; the program's "
                                              "own options come after its name",
                                              word),
                                  CLI::ExitCodes::ExtrasError);
        if (word.size() > nameLength) continue;  // It holds its value itself.
        if (option != nullptr && option->get_items_expected_max() > 0) ++at;  // Its value.
    }
}

}  // namespace lanescope
