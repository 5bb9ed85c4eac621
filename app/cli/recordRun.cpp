// SPDX-License-Identifier: Apache-2.0
#include "app/cli/recordRun.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <sstream>
#include <system_error>

#include "app/cli/Command.h"
#include "app/cli/runReport.h"
#include "capture/record/OutputName.h"

namespace lanescope::cli {

namespace {

/// What `env` and `nohup` give back for a program that cannot be started.
constexpr int exitProgramNotFound = 127;
constexpr int exitProgramCannotRun = 126;
constexpr int firstSignalStatus = 128;

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
    const std::string left = fmt::format(
        "{} holds {}", outcome.run->trace.string(),
        outcome.run->threadStates > 0 ? "what its threads did and no other event" : "no event");
    if (outcome.run->processesWithoutLog > 0)
        return fmt::format("Nothing was recorded of {}: no log could be written. {}.",
                           outcome.program, left);
    if (agent::isDisabled())
        return fmt::format("Nothing was recorded of {}: {} is set. {}.", outcome.program,
                           agent::disableVariable, left);
    std::string reason = "it used neither CUDA nor NVTX";
    if (!asked.recordNvtx) reason = "it used no CUDA, and NVTX was left out by --no-nvtx";
    if (!asked.recordCuda) reason = "it used no NVTX, and CUDA was left out by --no-cuda";
    if (!asked.windows.isEverything())
        reason += ", or only outside of the stretch that was to be recorded";
    reason +=
        ", or left within its first moments without its exit handlers, or cleared the environment, "
        "or could not reach the folder of its logs";
    if (!asked.only.empty())
        reason = "no program that --only names used CUDA or NVTX";
    else if (outcome.exitStatus > firstSignalStatus && !outcome.wasEndedByUs)
        reason = fmt::format(
            "signal {} ended it before it used CUDA or NVTX, or within the first moments after",
            outcome.exitStatus - firstSignalStatus);
    // Who asked for samples of threads may have come for nothing else.
    const char* const what = options.cpuSamplesHz > 0 && outcome.run->threadStates > 0
                                 ? "No CUDA and no NVTX was recorded"
                                 : "Nothing was recorded";
    return fmt::format("{} of {}: {}. {}.", what, outcome.program, reason, left);
}

/// Where what there is of a run that has no trace may be.
std::string keptSentence(const std::filesystem::path& logs) {
    std::error_code ignored;
    return std::filesystem::is_directory(logs, ignored)
               ? fmt::format(
                     "The logs are kept: make the trace with 'lanescope recover {}', on "
                     "another disk with -o.",
                     logs.string())
               : fmt::format(
                     "The logs in {} are gone, too: somebody removed them while the "
                     "program ran, so nothing is left of this recording.",
                     logs.string());
}

/// Says what is in the trace, and what is doubtful.
void sayRecorded(const capture::RecordOptions& options, const capture::RecordOutcome& outcome) {
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

}  // namespace

RunEnd recordRun(const capture::RecordOptions& options) {
    const auto outcome = capture::record(options);
    if (!outcome) return {exitStatusOf(outcome.error()), false, outcome.error().error.sentence};
    const bool hasTrace = outcome->run.has_value();
    RunEnd end{outcome->exitStatus != 0 || hasTrace ? outcome->exitStatus : exitFailed,
               outcome->wasEndedByUs,
               {}};
    // The status of the program is passed on, whatever there is no memory for.
    try {
        if (hasTrace)
            sayRecorded(options, *outcome);
        else
            end.problem = outcome->run.error().sentence + "\n" + keptSentence(outcome->keptLogs);
    } catch (const std::bad_alloc&) {
        sayOutOfMemory();
    }
    return end;
}

void sayProblem(const RunEnd& end) {
    std::istringstream lines(end.problem);
    for (std::string line; std::getline(lines, line);) say(line);
}

int recordRuns(capture::RecordOptions options, int count) {
    if (!options.outputPattern.empty())
        options.outputPattern = numberedPattern(options.outputPattern);
    RunSignals signals;
    for (int run = 1; run <= count; ++run) {
        say(fmt::format("Run {} of {}.", run, count));
        const RunEnd end = signals.runApart({}, [&] { return recordRun(options); });
        sayProblem(end);
        if (end.exitStatus != 0 && !end.wasEndedByUs && run < count)
            say(fmt::format("Run {} of {} ended with exit status {}, so there are no more.", run,
                            count, end.exitStatus));
        if (end.exitStatus != 0 && !end.wasEndedByUs) return end.exitStatus;
        if (!end.problem.empty()) return exitFailed;
        if (const int number = signals.taken(); number != 0 && run < count) {
            say(fmt::format("Interrupted after run {} of {}.", run, count));
            return firstSignalStatus + number;
        }
    }
    return exitOk;
}

std::string numberedPattern(const std::string& pattern) {
    if (capture::isNumbered(pattern)) return pattern;
    const std::filesystem::path name = pattern;
    const std::string ending = name.extension().string();
    return pattern.substr(0, pattern.size() - ending.size()) + "-%n" + ending;
}

}  // namespace lanescope::cli
