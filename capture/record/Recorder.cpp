// SPDX-License-Identifier: Apache-2.0
#include "capture/record/Recorder.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "capture/log/clocks.h"
#include "capture/log/launcherRank.h"
#include "capture/log/maskSecrets.h"
#include "capture/machine/Machine.h"
#include "capture/record/ChildProcess.h"
#include "capture/record/CollectorThread.h"
#include "capture/record/LogDoor.h"
#include "capture/record/OutputName.h"
#include "capture/record/RunFolder.h"
#include "capture/record/RunSamplers.h"
#include "capture/record/ThreadWatch.h"
#include "model/format/optionValues.h"
#include "model/format/version.h"

namespace lanescope::capture {

namespace {

using namespace std::chrono_literals;

/// Time for processes that outlive the program to write their logs.
constexpr auto descendantTimeout = 4s;
constexpr auto descendantPollInterval = 50ms;
/// Maximum time for the driver to describe the machine; it takes a second or two for each GPU that was asleep.
constexpr auto machineTimeout = 30s;

using TimePoint = std::chrono::steady_clock::time_point;

Injections injectionsOf(const RecordOptions& options) {
    return {options.agentOptions.recordCuda, options.agentOptions.recordNvtx, options.ncclPlugin};
}

RunInfo describeRun(const RecordOptions& options) {
    RunInfo info;
    info.commandLine =
        options.agentOptions.keepsCommandLine ? options.commandLine : log::maskSecrets(options.commandLine);
    std::error_code error;
    info.workingDirectory = std::filesystem::current_path(error).string();
    info.homeDirectory = environment("HOME");
    info.roofsFile = options.roofsFile;
    info.host = hostName();
    info.version = productVersion();
    info.options = agent::optionText(options.agentOptions);
    info.recordsCuda = options.agentOptions.recordCuda;
    const log::LauncherRank place = log::launcherRank();
    if (!place.rank.empty() && !place.worldSize.empty()) {
        info.rank = std::stoll(place.rank);
        info.worldSize = std::stoll(place.worldSize);
    }
    info.hostFacts = queryHostFacts();
    info.startMonotonicNs = log::monotonicNs();
    info.startRealtimeNs = info.startMonotonicNs + log::eventOffsetNs();
    return info;
}

/// Queries the driver about the machine without making the program wait, since this can take a
/// second. The result is stored next to the logs for a recovery, which may be on another machine.
/// If the driver hangs, as with a GPU that fell off its bus, its thread is abandoned.
void startMachineQuery(Collector& collector, RunInfo info, const RunFolder& folder) {
    // A promise broken for lack of memory would end the program.
    struct Answer {
        std::mutex mutex;
        std::condition_variable hasCome;
        std::optional<Machine> machine;
    };
    const auto answer = std::make_shared<Answer>();
    std::thread([answer] {
        Machine machine;
        try {
            machine = queryMachine();
        } catch (const std::exception&) {
            // Without memory the machine stays unknown; the program continues.
        }
        const std::lock_guard lock(answer->mutex);
        answer->machine = std::move(machine);
        answer->hasCome.notify_one();
    }).detach();
    std::unique_lock lock(answer->mutex);
    if (!answer->hasCome.wait_for(lock, machineTimeout, [&] { return answer->machine.has_value(); })) return;
    info.machine = std::move(*answer->machine);
    lock.unlock();
    if (!info.machine.driverVersion.empty())
        // Without it a recovery queries the machine that it runs on.
        static_cast<void>(info.save(*folder.folder(), runInfoWithMachineFileName));
    collector.setMachine(std::move(info.machine));
}

/// Waits for processes that outlived the program to finish their logs, for a limited time or
/// without limit; a signal ends the wait. Processes that still run then are cut. Returns the time
/// at which the last of all processes had ended, given that the program did at `ended`.
TimePoint waitForDescendants(Collector& collector, const SignalForwarder& signals, const RunSamplers& samplers,
                             bool forAll, TimePoint ended) {
    const TimePoint deadline = std::chrono::steady_clock::now() + descendantTimeout;
    for (;;) {
        // Also waits for a child that has not begun a log yet.
        const bool hasChildren = reapOrphans() && samplers.areNotAlone();
        collector.poll();
        std::vector<uint32_t> running = collector.openProcesses();
        running.erase(
            std::remove_if(running.begin(), running.end(),
                           [](uint32_t pid) { return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno != EPERM; }),
            running.end());
        if (!hasChildren && running.empty()) return ended;
        const bool isTimeUp = !forAll && std::chrono::steady_clock::now() > deadline;
        if (isTimeUp || signals.hasSignalAfterEnd()) {
            for (const pid_t pid : samplers.others()) running.push_back(pid);
            std::sort(running.begin(), running.end());
            running.erase(std::unique(running.begin(), running.end()), running.end());
            collector.cut(std::move(running), log::eventTimeNs());
            return std::chrono::steady_clock::now();
        }
        std::this_thread::sleep_for(descendantPollInterval);
        ended = std::chrono::steady_clock::now();
    }
}

struct Prepared {
    std::filesystem::path program;
    std::filesystem::path agent;
    std::string outputPattern;
};

Result<Prepared, RecordRefusal> prepare(const RecordOptions& options) {
    const auto refuse = [](const Error& error, RefusalCause cause = RefusalCause::Recording) {
        return tl::unexpected(RecordRefusal{error, cause});
    };
    if (options.commandLine.empty())
        return refuse({"Name the program to record: lanescope record -- PROGRAM ARGUMENTS."});
    auto program = findProgram(options.commandLine.front());
    if (!program)
        return refuse(program.error().error,
                      program.error().isFound ? RefusalCause::ProgramCannotRun : RefusalCause::NoProgram);
    auto agent = findAgent(options.agent);
    if (!agent) return refuse(agent.error());
    if (auto fits = checkIsAgent(*agent); !fits) return refuse(fits.error());
    if (auto alone = checkForOtherProfilers(*agent, injectionsOf(options)); !alone) return refuse(alone.error());
    if (auto allowed = PerfWatch::check(options); !allowed) return refuse(allowed.error());
    std::string pattern = options.outputPattern;
    if (pattern.empty()) pattern = defaultOutputPattern(*program);
    if (auto distinct = checkNameOfRank(pattern); !distinct) return refuse(distinct.error());
    return Prepared{std::move(*program), std::move(*agent), std::move(pattern)};
}

Result<CollectedRun> collectRest(Collector& collector, CollectorThread& tail, const SignalForwarder& signals,
                                 RunSamplers& samplers, ThreadWatch& threads, PerfWatch& perf, LogDoor& door,
                                 const MainProcess& program, TimePoint ended, const RecordOptions& options) {
    tail.stop();
    const TimePoint lastEnded = waitForDescendants(collector, signals, samplers, options.waitForAll, ended);
    samplers.end(collector);
    threads.end();
    perf.end(collector);
    for (const LogDoor::LostLog& lost : door.takeLost()) collector.addLostLog(lost.pid, lost.error, lost.program);
    Result<CollectedRun> run = collector.finish(program, options.overwrite, options.closing);
    if (run) run->closingNs = std::chrono::nanoseconds(std::chrono::steady_clock::now() - lastEnded).count();
    return run;
}

void noteEnd(RecordState* state, int exitStatus, int64_t endRealtimeNs) {
    if (state == nullptr) return;
    state->exitStatus = exitStatus;
    state->endRealtimeNs = endRealtimeNs;
    state->hasEnded = true;
}

struct Running {
    const RecordOptions& options;
    const RunInfo& info;
    const OutputPlace& place;
    ChildProcess& child;
    SignalForwarder& signals;
    Collector& collector;
    PerfWatch& perf;
    LogDoor& door;
};

/// Waits for the program and makes the trace. Sets each part of `outcome` as soon as possible:
/// memory may run out at any time.
void follow(const Running& run, RecordOutcome& outcome) {
    const RecordOptions& options = run.options;
    const RunFolder& logs = run.place.logs;
    RunSamplers samplers(options, logs.path(), logs.session());
    ThreadWatch threads(options, logs.path(), logs.session());
    run.perf.start(run.collector);
    EndOfWindows endOfWindows(options.agentOptions.windows, run.info.startRealtimeNs);
    MainProcess program{static_cast<uint32_t>(run.child.pid()), 0, 0};
    std::atomic<bool> wasKilled = false;
    const auto killAtEnd = [&] {
        if (!options.killsAtEnd || wasKilled) return;
        if (!endOfWindows.isReached(run.collector, log::eventTimeNs())) return;
        wasKilled = true;
        run.signals.send(SIGTERM);
    };
    CollectorThread tail(run.collector,
                         {[&] { startMachineQuery(run.collector, run.info, run.place.logs); }, killAtEnd});
    outcome.exitStatus = program.exitStatus = run.child.wait();
    const TimePoint ended = std::chrono::steady_clock::now();
    program.endRealtimeNs = log::eventTimeNs();
    noteEnd(options.state, program.exitStatus, program.endRealtimeNs);
    run.place.logs.noteEnd(program);
    run.collector.noteProgramEnd();
    run.signals.stopForwarding();
    outcome.wasEndedByUs = wasKilled;
    // Processes that the program started may not have received the signal.
    if (wasKilled)
        for (const pid_t pid : samplers.others()) ::kill(pid, SIGTERM);
    outcome.run =
        collectRest(run.collector, tail, run.signals, samplers, threads, run.perf, run.door, program, ended, options);
}

}  // namespace

namespace {

/// Removes the logs if all of them are in the trace.
void removeLogs(RunFolder& folder, const RecordOptions& options, RecordOutcome& outcome) {
    if (!outcome.run || outcome.run->logsNotAllRead > 0 || options.keepLogs) return;
    try {
        folder.remove();
        outcome.keptLogs.clear();
    } catch (const std::exception&) {
        // They stay, and the message names their place.
    }
}

}  // namespace

Result<RecordOutcome, RecordRefusal> record(const RecordOptions& options) {
    const auto prepared = prepare(options);
    if (!prepared) return tl::unexpected(prepared.error());
    const auto refuse = [](const Error& error, RefusalCause cause = RefusalCause::Recording, int signal = 0) {
        return tl::unexpected(RecordRefusal{error, cause, signal});
    };
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto child = ChildProcess::fork(prepared->program, options.commandLine,
                                    agentEnvironment(prepared->agent, injectionsOf(options)));
    if (!child) return refuse(child.error());
    // The program keeps its own signal handling. From here on this process forwards its signals, so that no half-made
    // file remains. It writes the trace even if no process reads its messages and the file size limit is reached.
    SignalForwarder signals(child->pid());
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
    const RunInfo info = describeRun(options);
    auto place = OutputPlace::claim(prepared->outputPattern, child->pid(), options.overwrite, info);
    if (!place) return refuse(place.error());
    RunFolder& folder = place->logs;
    auto collector = Collector::begin(folder.folder(), place->trace, info);
    if (!collector) {
        folder.remove();
        return refuse(collector.error());
    }

    auto perf = PerfWatch::open(options, child->pid(), *folder.folder());
    if (!perf) {
        folder.remove();
        return refuse(perf.error());
    }
    RunSamplers::prepare(options, *folder.folder());
    LogDoor door;
    door.open(*folder.folder());
    // Everything needed to report the outcome, created while there is memory for it.
    RecordOutcome outcome{0,
                          options.commandLine.front(),
                          fail("Out of memory: the trace could not be written."),
                          runFolderFor(place->trace),
                          {}};
    if (options.state != nullptr) {
        // A path that is too long stays empty, and the logs have to be recovered by hand.
        folder.path().string().copy(options.state->runFolder, RecordState::maxPathBytes - 1);
        place->trace.string().copy(options.state->trace, RecordState::maxPathBytes - 1);
        options.state->program = child->pid();
    }
    if (auto begun = child->begin(
            agentEntries(folder.path(), folder.session(), options.agentOptions, info.startRealtimeNs, door.name()));
        !begun) {
        if (options.state != nullptr) options.state->program = 0;
        folder.remove();
        return refuse(begun.error().error, RefusalCause::ProgramCannotRun, begun.error().signal);
    }
    try {
        follow({options, info, *place, *child, signals, **collector, *perf, door}, outcome);
    } catch (const std::exception&) {
        // Out of memory. The program continues and keeps its own status.
        if (!child->hasEnded()) {
            outcome.exitStatus = child->wait();
            noteEnd(options.state, outcome.exitStatus, log::eventTimeNs());
        }
    }
    if (!folder.folder()->isAt(outcome.keptLogs)) outcome.keptLogs = folder.folder()->presentPath();
    removeLogs(folder, options, outcome);
    return outcome;
}

MainProcess waitForProgram(const RecordState& state) {
    MainProcess program{static_cast<uint32_t>(state.program), state.exitStatus, state.endRealtimeNs};
    int status = 0;
    if (!state.hasEnded) {
        pid_t ended = 0;
        do ended = ::waitpid(state.program, &status, 0);
        while (ended < 0 && errno == EINTR);
        constexpr int unknown = 1;  // The recording process had taken the status and was killed.
        program.exitStatus = ended < 0 ? unknown : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        program.endRealtimeNs = log::eventTimeNs();
    }
    const TimePoint deadline = std::chrono::steady_clock::now() + descendantTimeout;
    while (reapOrphans() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(descendantPollInterval);
    return program;
}

RecordOutcome completeRecording(const RecordOptions& options, const RecordState& state, const MainProcess& program) {
    RecordOutcome outcome{
        program.exitStatus, options.commandLine.front(), fail("No log was left."), state.runFolder, {}};
    auto folder = RunFolder::takeOver(state.runFolder);
    if (!folder) return outcome;
    folder->noteEnd(program);
    outcome.run = recoverLogs(*folder, {state.runFolder, state.trace, options.overwrite, {}});
    removeLogs(*folder, options, outcome);
    return outcome;
}

}  // namespace lanescope::capture
