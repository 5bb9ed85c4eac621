// SPDX-License-Identifier: Apache-2.0
#include "app/cli/recordRun.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "app/cli/Output.h"
#include "app/cli/TraceClosing.h"
#include "capture/log/launcherRank.h"
#include "capture/record/ChildProcess.h"
#include "capture/record/RunFolder.h"
#include "model/format/checksums.h"
#include "model/format/files.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace {

constexpr size_t maxWarnings = 8;
/// Threshold above which `record` reports that the collector fell behind. Fewer bytes are read quickly.
constexpr int64_t muchUnread = int64_t{1} << 20;

/// Set by Ctrl+C and SIGTERM. A handler has no access to objects.
volatile std::sig_atomic_t wasInterrupted = 0;

/// One recording that is being finished.
class Closing {
  public:
    Closing() { wasInterrupted = 0; }

    /// Returns the error of the last step. The second step repeats the first if that could not read
    /// the trace, as on a file system without concurrent readers.
    const std::optional<Error>& problem() const { return problem_; }

    template <class Step>
    void run(Step step) {
        if (wasInterrupted != 0) return;
        capture::SignalHandlers handlers;
        handlers.install({SIGINT, SIGTERM}, [](int, siginfo_t*, void*) { wasInterrupted = 1; });
        const Result<void> done = step(closing_);
        problem_.reset();
        if (!done && wasInterrupted == 0) problem_ = done.error();
    }

  private:
    std::optional<Error> problem_;
    ProgressLine line_;
    TraceClosing closing_{[this](double fraction, std::string_view what) {
        line_(fraction, what);
        return wasInterrupted == 0;
    }};
};

/// The status that `env` and `nohup` return for a program that cannot be started.
constexpr int exitProgramNotFound = 127;
constexpr int exitProgramCannotRun = 126;
constexpr int firstSignalStatus = 128;

int exitStatusOf(const capture::RecordRefusal& refusal) {
    if (refusal.signal > 0) return firstSignalStatus + refusal.signal;
    switch (refusal.cause) {
        case capture::RefusalCause::NoProgram: return exitProgramNotFound;
        case capture::RefusalCause::ProgramCannotRun: return exitProgramCannotRun;
        case capture::RefusalCause::Recording: break;
    }
    return exitFailed;
}

/// Returns possible reasons for an empty trace. The first events of a process may not be in a log yet.
std::string nothingSentence(const capture::RecordOptions& options, const capture::RecordOutcome& outcome) {
    const agent::AgentOptions& asked = options.agentOptions;
    const std::string left = fmt::format("{} contains {}", outcome.run->trace.string(),
                                         outcome.run->threadStates > 0 ? "only thread data" : "no event");
    if (outcome.run->processesWithoutLog > 0)
        return fmt::format("Nothing was recorded of {}: no log could be written. {}.", outcome.program, left);
    if (agent::isDisabled())
        return fmt::format("Nothing was recorded of {}: {} is set. {}.", outcome.program, agent::disableVariable, left);
    std::string reason = "possible causes: no CUDA or NVTX use";
    if (!asked.recordNvtx) reason = "possible causes: no CUDA use (NVTX is excluded by --no-nvtx)";
    if (!asked.recordCuda) reason = "possible causes: no NVTX use (CUDA is excluded by --no-cuda)";
    if (!asked.windows.isEverything()) reason += ", activity only outside the recorded windows";
    reason +=
        ", an exit soon after the start without exit handlers, a cleared environment, or a log folder that could not "
        "be reached";
    if (!asked.only.empty())
        reason = "no program of --only used CUDA or NVTX";
    else if (outcome.exitStatus > firstSignalStatus && !outcome.wasEndedByUs)
        reason = fmt::format("signal {} ended it before it used CUDA or NVTX, or soon after",
                             outcome.exitStatus - firstSignalStatus);
    // A run with thread samples may be complete without GPU events.
    const char* const what = options.cpuSamplesHz > 0 && outcome.run->threadStates > 0
                                 ? "No CUDA and no NVTX was recorded"
                                 : "Nothing was recorded";
    return fmt::format("{} of {}: {}. {}.", what, outcome.program, reason, left);
}

/// Returns, for example, "1,234 kernels, 56 memcpys" for the kinds present; "no event" if there are none.
std::string countsSentence(const capture::ImportCounts& counts) {
    std::string text;
    for (int index = 0; index < capture::importedKindCount; ++index) {
        const auto kind = static_cast<capture::ImportedKind>(index);
        if (counts.of(kind) == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {}", formatCount(counts.of(kind)),
                            counts.of(kind) == 1 ? capture::singularName(kind) : capture::pluralName(kind));
        if (counts.untimedOf(kind) > 0) text += fmt::format(" ({} not timed)", formatCount(counts.untimedOf(kind)));
    }
    return text.empty() ? "no event" : text;
}

/// Prints the time to finish the trace and the size of the unread logs when that began. Prints
/// nothing for a trace that was not just recorded.
void printClosing(const capture::CollectedRun& run) {
    if (run.closingNs == 0) return;
    std::string sentence = fmt::format("Finished {} after the last process exited", formatDuration(run.closingNs));
    if (run.logBytesUnreadAtExit.value_or(0) > muchUnread)
        sentence +=
            fmt::format("; {} of the logs were unread when the program exited", formatBytes(*run.logBytesUnreadAtExit));
    printMessage(sentence + ".");
}

/// Reports the content of the trace and its warnings.
void printRecorded(const capture::RecordOptions& options, const capture::RecordOutcome& outcome) {
    if (outcome.wasEndedByUs)
        printMessage(
            fmt::format("{}: terminated by SIGTERM after the last recorded window (--kill sigterm).", outcome.program));
    if (outcome.run->processes == 0) {
        printMessage(nothingSentence(options, outcome));
    } else {
        printContent(*outcome.run);
        printClosing(*outcome.run);
    }
    reportWarnings(*outcome.run);
    if (!outcome.keptLogs.empty()) printMessage(fmt::format("The logs are in {}.", outcome.keptLogs.string()));
}

/// Returns the owner of a folder who can replace each file that root, this user, writes there. Returns nullopt if that
/// is root, and for other users.
std::optional<std::string> otherOwnerForRoot(const std::filesystem::path& folder) {
    return ::geteuid() == 0 ? otherOwnerOf(folder.empty() ? "." : folder) : std::nullopt;
}

/// With -o, the user chose the folder, as for a folder of the host in a container.
void warnOfOwner(const std::string& outputPattern) {
    const std::string localRank = log::launcherRank().localRank;
    if (!localRank.empty() && localRank != "0") return;
    const std::filesystem::path folder = std::filesystem::path(outputPattern).parent_path();
    if (const std::optional<std::string> owner = otherOwnerForRoot(folder))
        reportWarning(
            fmt::format("{} belongs to {}, who can replace the trace. As root, use -o with a folder of root's.",
                        folder.empty() || folder == "." ? "This folder" : folder.string(), *owner));
}

/// Returns `pattern` with "-%n" before its ending, unless it has a number.
std::string numberedPattern(const std::string& pattern) {
    if (capture::isNumbered(pattern)) return pattern;
    const std::filesystem::path name = pattern;
    const std::string ending = name.extension().string();
    return pattern.substr(0, pattern.size() - ending.size()) + "-%n" + ending;
}

}  // namespace

void printContent(const capture::CollectedRun& run) {
    if (run.processes == 0 && run.threadStates > 0)
        return printMessage(fmt::format("Wrote {}: thread data and no other event.", run.trace.string()));
    printMessage(fmt::format("Wrote {}: {} of {} process{}.", run.trace.string(), countsSentence(run.counts),
                             run.processes, run.processes == 1 ? "" : "es"));
}

void reportWarnings(const capture::CollectedRun& run) {
    for (size_t index = 0; index < run.warnings.size() && index < maxWarnings; ++index)
        reportNote(run.warnings[index].severity, run.warnings[index].sentence);
    if (run.warnings.size() > maxWarnings)
        reportWarning(
            fmt::format("{} more: see 'lanescope info {}'.", run.warnings.size() - maxWarnings, run.trace.string()));
}

capture::ClosingSteps closeRecorded(const std::filesystem::path& summaries) {
    // Created on first use, because the progress line measures time from its construction.
    const auto closing = std::make_shared<std::unique_ptr<Closing>>();
    const auto begun = [closing]() -> Closing& {
        if (!*closing) *closing = std::make_unique<Closing>();
        return **closing;
    };
    capture::ClosingSteps steps;
    steps.add = [begun](Database& database) {
        begun().run([&](TraceClosing& trace) { return trace.storeSummary(database); });
    };
    steps.settled = [begun, closing, summaries](const std::filesystem::path& file, const std::filesystem::path& name) {
        // Also if the recording was interrupted: this is the last write.
        const Result<void> sealed = sealPages(file);
        if (!summaries.empty())
            begun().run([&](TraceClosing& trace) { return trace.writeSummary(file, name, summaries); });
        const std::optional<Error> ofSummary = summaries.empty() ? std::nullopt : begun().problem();
        begun().run([&](TraceClosing& trace) { return trace.writeIndex(file, name); });
        const std::optional<Error> problem = begun().problem();
        closing->reset();  // also removes the progress line
        if (ofSummary) reportWarning(ofSummary->sentence);
        if (problem) reportWarning(problem->sentence);
        if (!sealed) reportWarning(sealed.error().sentence);
    };
    steps.skipped = [summaries](const std::filesystem::path& name, capture::ClosingSkip reason) {
        const std::string folder = summaries.string();
        if (reason == capture::ClosingSkip::NoRoom)
            reportWarning(fmt::format(
                "{0}: complete, but without index{1}, because the disk or memory was too small. Free some, then run "
                "'lanescope index {0}'{2}.",
                name.string(), folder.empty() ? "" : " and without summary in " + folder,
                folder.empty() ? "" : fmt::format(" and 'lanescope summarize {} -o {}'", name.string(), folder)));
        else if (!folder.empty())
            reportWarning(
                fmt::format("{}: no summary was written to {}, because nothing was recorded.", name.string(), folder));
    };
    return steps;
}

std::string keptSentence(const std::filesystem::path& logs) {
    std::error_code ignored;
    return std::filesystem::is_directory(logs, ignored)
               ? fmt::format(
                     "The logs are kept. Build the trace with 'lanescope recover {}', or on another disk with -o.",
                     logs.string())
               : fmt::format("{}: the logs were removed while the program ran. Nothing of this recording is left.",
                             logs.string());
}

RunEnd completeRun(const capture::RecordOptions& options, const capture::RecordState& state,
                   const capture::MainProcess& program, const std::string& reason) {
    const capture::RecordOutcome outcome = capture::completeRecording(options, state, program);
    if (!outcome.run) return {exitFailed, false, reason + "\n" + keptSentence(outcome.keptLogs)};
    printMessage(reason + " The trace was built from the logs, without summary and index.");
    printRecorded(options, outcome);
    return {program.exitStatus, false, {}};
}

Result<void> checkDefaultPlace() {
    const std::optional<std::string> owner = otherOwnerForRoot({});
    if (!owner) return {};
    return fail(
        "This folder belongs to {}, who can replace the trace. As root, use -o with a folder of root's, or with a name "
        "to record here.",
        *owner);
}

RunEnd recordRun(const capture::RecordOptions& options) {
    if (options.outputPattern.empty()) {
        if (const Result<void> place = checkDefaultPlace(); !place) return {exitFailed, false, place.error().sentence};
    } else {
        warnOfOwner(options.outputPattern);
    }
    const auto outcome = capture::record(options);
    if (!outcome) return {exitStatusOf(outcome.error()), false, outcome.error().error.sentence};
    const bool hasTrace = outcome->run.has_value();
    RunEnd end{outcome->exitStatus != 0 || hasTrace ? outcome->exitStatus : exitFailed, outcome->wasEndedByUs, {}};
    // Returns the status of the program also if memory runs out.
    try {
        if (hasTrace && options.beginReading)
            printMessage(fmt::format("Wrote {}.", outcome->run->trace.string()));
        else if (hasTrace)
            printRecorded(options, *outcome);
        else
            end.problem = outcome->run.error().sentence + "\n" + keptSentence(outcome->keptLogs);
    } catch (const std::bad_alloc&) {
        reportOutOfMemory();
    }
    return end;
}

void printProblem(const RunEnd& end) {
    std::istringstream lines(end.problem);
    for (std::string line; std::getline(lines, line);) printMessage(line);
}

int recordRuns(capture::RecordOptions options, int count) {
    if (!options.outputPattern.empty()) options.outputPattern = numberedPattern(options.outputPattern);
    RecordSupervisor supervisor;
    for (int run = 1; run <= count; ++run) {
        printMessage(fmt::format("Run {} of {}.", run, count));
        const RunEnd end = supervisor.record(options);
        printProblem(end);
        if (end.exitStatus != 0 && !end.wasEndedByUs && run < count)
            printMessage(fmt::format("Run {} of {}: exit status {}. No further runs.", run, count, end.exitStatus));
        if (end.exitStatus != 0 && !end.wasEndedByUs) return end.exitStatus;
        if (!end.problem.empty()) return exitFailed;
        if (const int number = supervisor.received(); number != 0 && run < count) {
            printMessage(fmt::format("Interrupted after run {} of {}.", run, count));
            return firstSignalStatus + number;
        }
    }
    return exitOk;
}

}  // namespace lanescope::cli
