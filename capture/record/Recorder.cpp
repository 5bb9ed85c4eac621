// SPDX-License-Identifier: Apache-2.0
#include "capture/record/Recorder.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "capture/log/clocks.h"
#include "capture/log/launcherRank.h"
#include "capture/log/logDoor.h"
#include "capture/log/maskSecrets.h"
#include "capture/machine/Machine.h"
#include "capture/record/ChildProcess.h"
#include "capture/record/RunSamplers.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"
#include "model/format/optionValues.h"
#include "model/format/version.h"

namespace lanescope::capture {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds pollInterval{250};

/// Calls a duty. Without memory it is skipped.
void attempt(const std::function<void()>& duty) {
    try {
        duty();
    } catch (const std::exception&) {
        // The trace is made of the logs anyway.
    }
}

constexpr int64_t settlingNs = 1'000'000'000;

bool isAlive(uint32_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; }

constexpr int maxPendingConnections = 128;
constexpr timeval connectionTimeout{0, 200'000};

bool isDescendant(pid_t pid) {
    const std::vector<pid_t> ancestors = ancestorsOf(pid);
    return std::ranges::find(ancestors, ::getpid()) != ancestors.end();
}

std::string programOf(pid_t pid) {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
}

/// Server that opens logs for processes of the run that gave up their rights or see other folders. They connect to a
/// socket and get a descriptor. It answers only descendants of this process and opens only files of logs in the run
/// folder. Without support for such sockets it does nothing and reports nothing.
class LogDoor {
  public:
    /// Makes the socket; requests are not answered yet.
    LogDoor() {
        uint64_t number[2] = {};
        if (::getrandom(number, sizeof number, GRND_NONBLOCK) != sizeof number) return;
        const std::string name = "lanescope-" + std::to_string(number[0]) + "-" + std::to_string(number[1]);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name.data(), name.size());
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (socket_ >= 0 && ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
            ::listen(socket_, maxPendingConnections) == 0)
            name_ = name;
        else
            socket_.reset();
    }

    ~LogDoor() {
        if (!thread_.joinable()) return;
        isStopping_ = true;
        ::shutdown(socket_, SHUT_RDWR);  // wakes it
        thread_.join();
    }

    /// Returns the socket's name for `log::requestLog`; empty if there is none.
    const std::string& name() const { return name_; }
    /// Answers requests from now on, on a thread of its own that takes no signals. Once.
    void open(const Folder& runFolder) {
        if (name_.empty()) return;
        folder_ = runFolder.again();
        if (!folder_) return;
        sigset_t all, previous;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &previous);
        try {
            thread_ = std::thread([this] { run(); });
        } catch (const std::system_error&) {
            // Most processes are recorded without it too.
        }
        pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    }

    /// Process that can write neither a log nor a sign of that, for example because the disk has no free inode.
    struct LostLog {
        int pid = 0;    ///< As the process sees it.
        int error = 0;  ///< errno.
        std::string program;
    };
    /// Returns the processes that reported this since the last call, at most `maxLostLogs`. Any thread.
    std::vector<LostLog> takeLost() {
        const std::lock_guard lock(mutex_);
        return std::exchange(lost_, {});
    }

    static constexpr size_t maxLostLogs = 1000;

  private:
    void run() {
        constexpr int checkPeriodMs = 1000;  // checks for the end, in case nothing wakes it
        while (!isStopping_) {
            pollfd source{socket_, POLLIN, 0};
            if (::poll(&source, 1, checkPeriodMs) <= 0) continue;
            const UniqueFd connection(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
            if (connection < 0) continue;
            try {
                answer(connection);
            } catch (const std::exception&) {
                // Without memory the requester gets no answer, and reports the failure itself.
            }
        }
    }

    void answer(int connection) {
        for (const int time : {SO_SNDTIMEO, SO_RCVTIMEO})
            ::setsockopt(connection, SOL_SOCKET, time, &connectionTimeout, sizeof connectionTimeout);
        ucred peer{};
        socklen_t length = sizeof peer;
        log::DoorRequest question;
        if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || !isDescendant(peer.pid) ||
            ::recv(connection, &question, sizeof question, 0) != sizeof question)
            return;
        UniqueFd descriptor;
        log::DoorReply received{fulfil(question, peer.pid, descriptor)};
        iovec part{&received, sizeof received};
        alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (descriptor >= 0) {
            message.msg_control = room;
            message.msg_controllen = sizeof room;
            cmsghdr* const header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof(int));
            *reinterpret_cast<int*>(CMSG_DATA(header)) = descriptor;
        }
        ::sendmsg(connection, &message, MSG_NOSIGNAL);
    }

    /// Opens the requested file and sets `descriptor`. Returns 0, or errno.
    int fulfil(const log::DoorRequest& question, int pid, UniqueFd& descriptor) {
        const std::string name(question.name, ::strnlen(question.name, sizeof question.name));
        if (question.version != log::DoorRequest::currentVersion || !log::isLogName(name)) return EINVAL;
        if (question.action == log::DoorAction::Lost) {
            if (!name.ends_with(log::lostLogEnding)) return EINVAL;
            return keepLost(name, question.error, pid);
        }
        const bool isNew = question.action == log::DoorAction::BeginLog;
        if (!isLogFile(name) || (!isNew && question.action != log::DoorAction::OpenAgain)) return EINVAL;
        descriptor =
            isNew ? folder_->createFile(name, Folder::Access::Append) : folder_->openFile(name, Folder::Access::Append);
        return descriptor >= 0 ? 0 : errno;
    }

    /// Leaves the sign, which survives this process, or else remembers it.
    int keepLost(const std::string& sign, int error, int pid) {
        LostLog lost{0, error, programOf(pid)};
        if (::symlinkat(log::lostLogText(error, lost.program).c_str(), folder_->descriptor(), sign.c_str()) == 0)
            return 0;
        // "<host>.<rank>.<pid>.lost"
        const std::string name = sign.substr(0, sign.size() - log::lostLogEnding.size());
        lost.pid = std::atoi(name.substr(name.rfind('.') + 1).c_str());
        const std::lock_guard lock(mutex_);
        if (lost_.size() >= maxLostLogs) return ENOSPC;
        lost_.push_back(std::move(lost));
        return 0;
    }

    std::string name_;
    UniqueFd socket_;
    std::optional<Folder> folder_;
    std::atomic<bool> isStopping_{false};
    std::thread thread_;
    std::mutex mutex_;  // guards the member below
    std::vector<LostLog> lost_;
};

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
    if (const log::LauncherRank place = log::launcherRank(); !place.rank.empty() && !place.worldSize.empty()) {
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
void startMachineQuery(RunReader& collector, RunInfo info, const RunFolder& folder) {
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
TimePoint waitForDescendants(RunReader& collector, const SignalForwarder& signals, const RunSamplers& samplers,
                             bool forAll, TimePoint ended) {
    const TimePoint deadline = std::chrono::steady_clock::now() + descendantTimeout;
    for (;;) {
        // Also waits for a child that has not begun a log yet.
        const bool hasChildren = reapOrphans() && samplers.areNotAlone();
        collector.poll();
        std::vector<uint32_t> running = collector.openProcesses();
        std::erase_if(running, [](uint32_t pid) { return !isAlive(pid); });
        if (!hasChildren && running.empty()) return ended;
        const bool isTimeUp = !forAll && std::chrono::steady_clock::now() > deadline;
        if (isTimeUp || signals.hasSignalAfterEnd()) {
            for (const pid_t pid : samplers.others()) running.push_back(pid);
            std::ranges::sort(running);
            running.erase(std::ranges::unique(running).begin(), running.end());
            collector.cut(std::move(running), log::eventTimeNs());
            return std::chrono::steady_clock::now();
        }
        std::this_thread::sleep_for(descendantPollInterval);
        ended = std::chrono::steady_clock::now();
    }
}

auto refuse(const Error& error, RefusalCause cause = RefusalCause::Recording, int signal = 0) {
    return tl::unexpected(RecordRefusal{error, cause, signal});
}

struct Prepared {
    std::filesystem::path program;
    std::filesystem::path agent;
    std::string outputPattern;
};

Result<Prepared, RecordRefusal> prepare(const RecordOptions& options) {
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

Result<RunReading> beginTrace(const std::string& pattern, int pid, bool overwrite, const RunInfo& info) {
    auto place = OutputPlace::claim(pattern, pid, overwrite, info);
    if (!place) return fail(place.error());
    auto collector = Collector::begin(place->logs.folder(), place->trace, info);
    if (!collector) {
        place->logs.remove();
        return fail(collector.error());
    }
    return RunReading{std::move(*place), std::move(*collector)};
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
    RunReader& collector;
    PerfWatch& perf;
    LogDoor& door;
};

/// Waits for the program and makes the trace. Sets each part of `outcome` as soon as possible:
/// memory may run out at any time.
void follow(const Running& run, RecordOutcome& outcome) {
    const RecordOptions& options = run.options;
    RunReader& collector = run.collector;
    const RunFolder& logs = run.place.logs;
    RunSamplers samplers(options, logs.path(), logs.session());
    ThreadWatch threads(options, logs.path(), logs.session());
    run.perf.start(collector);
    EndOfWindows endOfWindows(options.agentOptions.windows, run.info.startRealtimeNs);
    MainProcess program{static_cast<uint32_t>(run.child.pid()), 0, 0};
    std::atomic<bool> wasKilled = false;
    const auto killAtEnd = [&] {
        if (!options.killsAtEnd || wasKilled) return;
        if (!endOfWindows.isReached(collector, log::eventTimeNs())) return;
        wasKilled = true;
        run.signals.send(SIGTERM);
    };
    CollectorThread tail(collector, {[&] { startMachineQuery(collector, run.info, logs); }, killAtEnd});
    outcome.exitStatus = program.exitStatus = run.child.wait();
    const TimePoint ended = std::chrono::steady_clock::now();
    program.endRealtimeNs = log::eventTimeNs();
    noteEnd(options.state, program.exitStatus, program.endRealtimeNs);
    logs.noteEnd(program);
    reapOrphans();  // also the program, whose status is stored now
    collector.noteProgramEnd();
    run.signals.stopForwarding();
    outcome.wasEndedByUs = wasKilled;
    // Processes that the program started may not have received the signal.
    if (wasKilled)
        for (const pid_t pid : samplers.others()) ::kill(pid, SIGTERM);
    tail.stop();
    const TimePoint lastEnded = waitForDescendants(collector, run.signals, samplers, options.waitForAll, ended);
    samplers.end(collector);
    threads.end();
    run.perf.end(collector);
    for (const LogDoor::LostLog& lost : run.door.takeLost()) collector.addLostLog(lost.pid, lost.error, lost.program);
    outcome.run = collector.finish(program, options.overwrite, options.closing);
    if (outcome.run)
        outcome.run->closingNs = std::chrono::nanoseconds(std::chrono::steady_clock::now() - lastEnded).count();
}

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

CollectorThread::CollectorThread(RunReader& collector, Duties duties)
    : collector_(collector), duties_(std::move(duties)) {
    // Signals belong to the main thread, which waits for the program.
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::exception&) {
        // Everything is in the logs.
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

CollectorThread::~CollectorThread() { stop(); }

void CollectorThread::stop() {
    {
        const std::lock_guard lock(mutex_);
        isStopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void CollectorThread::run() {
    attempt(duties_.first);
    std::unique_lock lock(mutex_);
    while (!isStopping_) {
        lock.unlock();
        collector_.poll();
        attempt(duties_.afterPoll);
        lock.lock();
        wake_.wait_for(lock, pollInterval, [this] { return isStopping_; });
    }
}

EndOfWindows::EndOfWindows(const agent::WindowOptions& windows, int64_t startRealtimeNs) : count_(windows.count()) {
    if (!windows.areInsideProgram() && windows.durationNs > 0)
        endRealtimeNs_ = startRealtimeNs + windows.delayNs + windows.durationNs;
}

bool EndOfWindows::isReached(const RunReader& collector, int64_t nowRealtimeNs) {
    if (endRealtimeNs_) return nowRealtimeNs >= *endRealtimeNs_;
    if (!haveAllEnded(collector)) {
        allEndedSinceNs_.reset();
        return false;
    }
    if (!allEndedSinceNs_) allEndedSinceNs_ = nowRealtimeNs;
    return nowRealtimeNs - *allEndedSinceNs_ >= settlingNs;
}

bool EndOfWindows::haveAllEnded(const RunReader& collector) const {
    bool hasOneEnded = false;
    for (const WindowProgress& process : collector.windowProgress()) {
        const bool hasEnded = count_ && static_cast<int64_t>(process.ended) >= *count_;
        if (!hasEnded && process.begun > 0 && isAlive(process.pid)) return false;
        hasOneEnded = hasOneEnded || hasEnded;
    }
    return hasOneEnded;
}

Result<RecordOutcome, RecordRefusal> record(const RecordOptions& options) {
    const auto prepared = prepare(options);
    if (!prepared) return tl::unexpected(prepared.error());
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto child = ChildProcess::fork(prepared->program, options.commandLine,
                                    agentEnvironment(prepared->agent, injectionsOf(options)));
    if (!child) return refuse(child.error());
    // The program keeps its own signal handling. From here on this process forwards its signals, so that no half-made
    // file remains. It writes the trace even if no process reads its messages and the file size limit is reached.
    SignalForwarder signals(child->pid());
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
    const RunInfo info = describeRun(options);
    auto reading = options.beginReading ? options.beginReading(child->pid(), info)
                                        : beginTrace(prepared->outputPattern, child->pid(), options.overwrite, info);
    if (!reading) return refuse(reading.error());
    OutputPlace& place = reading->place;
    RunFolder& folder = place.logs;
    auto perf = PerfWatch::open(options, child->pid(), *folder.folder());
    if (!perf) {
        folder.remove();
        return refuse(perf.error());
    }
    RunSamplers::prepare(options, *folder.folder());
    LogDoor door;
    door.open(*folder.folder());
    // Everything needed to report the outcome, created while there is memory for it.
    RecordOutcome outcome{
        0, options.commandLine.front(), fail("Out of memory: the trace could not be written."), folder.path(), {}};
    if (options.state != nullptr) {
        // A path that is too long stays empty, and the logs have to be recovered by hand.
        folder.path().string().copy(options.state->runFolder, RecordState::maxPathBytes - 1);
        place.trace.string().copy(options.state->trace, RecordState::maxPathBytes - 1);
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
        follow({options, info, place, *child, signals, *reading->reader, *perf, door}, outcome);
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
        constexpr int unknown = 1;  // for a process that ignores SIGCHLD
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
