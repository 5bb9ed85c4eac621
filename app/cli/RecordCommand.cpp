// SPDX-License-Identifier: Apache-2.0
#include "app/cli/RecordCommand.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "app/cli/Command.h"
#include "app/cli/RecordArguments.h"
#include "app/cli/closeRecorded.h"
#include "app/cli/runReport.h"
#include "capture/record/Recorder.h"

namespace lanescope::cli {

namespace {

/// What `env` and `nohup` give back for a program that cannot be started.
constexpr int exitProgramNotFound = 127;
constexpr int exitProgramCannotRun = 126;
constexpr int firstSignalStatus = 128;
constexpr const char* commandName = "record";

int exitStatusOf(const capture::RecordRefusal& refusal) {
    if (refusal.signal > 0) return firstSignalStatus + refusal.signal;
    switch (refusal.cause) {
        case capture::RefusalCause::NoProgram:
            return exitProgramNotFound;
        case capture::RefusalCause::ProgramCannotRun:
            return exitProgramCannotRun;
        case capture::RefusalCause::Recording:
            break;
    }
    return exitFailed;
}

/// Why there may be nothing in the trace. What a process did in its first moments is not in a log
/// yet.
std::string nothingSentence(const capture::RecordOptions& options,
                            const capture::RecordOutcome& outcome) {
    const agent::AgentOptions& asked = options.agentOptions;
    if (outcome.run->processesWithoutLog > 0)
        return fmt::format(
            "Nothing was recorded of {}: no log could be written. {} holds no event.",
            outcome.program, outcome.run->trace.string());
    if (agent::isDisabled())
        return fmt::format("Nothing was recorded of {}: {} is set. {} holds no event.",
                           outcome.program, agent::disableVariable, outcome.run->trace.string());
    std::string reason = "it used neither CUDA nor NVTX";
    if (!asked.recordNvtx) reason = "it used no CUDA, and NVTX was left out by --no-nvtx";
    if (!asked.recordCuda) reason = "it used no NVTX, and CUDA was left out by --no-cuda";
    if (!asked.windows.isEverything())
        reason += ", or only outside of the stretch that was to be recorded";
    reason +=
        ", or left within its first moments without its exit handlers, or cleared the environment, "
        "or "
        "could not reach the folder of its logs";
    if (!asked.only.empty())
        reason = "no program that --only names used CUDA or NVTX";
    else if (outcome.exitStatus > firstSignalStatus && !outcome.wasEndedByUs)
        reason = fmt::format(
            "signal {} ended it before it used CUDA or NVTX, or within the first moments after",
            outcome.exitStatus - firstSignalStatus);
    return fmt::format("Nothing was recorded of {}: {}. {} holds no event.", outcome.program,
                       reason, outcome.run->trace.string());
}

/// Says what became of the trace.
void reportRecorded(const capture::RecordOptions& options, const capture::RecordOutcome& outcome) {
    if (!outcome.run) {
        reportFailure(outcome.run.error());
        std::error_code ignored;
        const std::string logs = outcome.keptLogs.string();
        say(std::filesystem::is_directory(outcome.keptLogs, ignored)
                ? fmt::format("The logs are kept: make the trace with 'lanescope recover {}', on "
                              "another disk with -o.",
                              logs)
                : fmt::format("The logs in {} are gone, too: somebody removed them while the "
                              "program ran, so nothing is left of this recording.",
                              logs));
        return;
    }
    if (outcome.wasEndedByUs)
        say(
            fmt::format("{} was ended by SIGTERM when what was to be recorded was over, as --kill "
                        "asks.",
                        outcome.program));
    if (outcome.run->processes == 0) {
        say(nothingSentence(options, outcome));
    } else {
        sayWhatIsIn(*outcome.run);
        sayHowItClosed(*outcome.run);
    }
    reportWarnings(*outcome.run);
    if (!outcome.keptLogs.empty())
        say(fmt::format("The logs are in {}.", outcome.keptLogs.string()));
}

int runRecord(const capture::RecordOptions& options) {
    const auto outcome = capture::record(options);
    if (!outcome) {
        reportFailure(outcome.error().error);
        return exitStatusOf(outcome.error());
    }
    try {
        reportRecorded(options, *outcome);
    } catch (const std::bad_alloc&) {
        sayOutOfMemory();
    }
    const bool hasTrace = outcome->run.has_value();
    return outcome->exitStatus != 0 || hasTrace ? outcome->exitStatus : exitFailed;
}

}  // namespace

void addRecord(CLI::App& app, int& exitStatus) {
    auto arguments = std::make_shared<RecordArguments>();
    CLI::App* command = app.add_subcommand(
        commandName, "Run a program and record what it and its children do on the GPUs");
    arguments->addTo(*command);
    command->footer(
        "The exit status is the program's; 128 and the signal's number if a signal ended it.\n\n"
        "Examples:\n"
        "  lanescope record -- python train.py --epochs 1\n"
        "  lanescope record -o run-%h.sqlite -- torchrun --nproc-per-node 8 train.py\n"
        "  mpirun -n 4 lanescope record -o run.%q{OMPI_COMM_WORLD_RANK}.sqlite -- ./train\n"
        "  lanescope record --delay 60 --duration 5 --kill sigterm -- python train.py\n"
        "  lanescope record --steps 10-12 -- python train.py");
    command->callback([arguments, &exitStatus] {
        Result<capture::RecordOptions> options = arguments->options();
        if (!options) {
            reportFailure(options.error());
            exitStatus = exitUsage;
            return;
        }
        options->closing = closeRecorded();
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
        if (option->get_items_expected_max() == 0) continue;
        // Its value; the parser would take the mark before the program for one.
        ++at;
        if (at == words.size() || words[at] == "--")
            throw CLI::ParseError(fmt::format("{} needs a {}", word, option->get_type_name()),
                                  CLI::ExitCodes::ArgumentMismatch);
    }
}

}  // namespace lanescope::cli
