// SPDX-License-Identifier: Apache-2.0
#include "app/cli/RecordSupervisor.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "app/cli/Output.h"
#include "app/cli/recordRun.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"
#include "model/system/system.h"

namespace lanescope::cli {

/// Memory that this process and the one that records share: the progress of the run and its end.
struct Shared {
    static constexpr size_t maxProblemBytes = 8192;
    capture::RecordState state;
    std::atomic<bool> hasEnd = false;  ///< The members below are valid.
    int exitStatus = 0;
    bool wasEndedByUs = false;
    char problem[maxProblemBytes] = "";

    void set(int status, bool isByUs, std::string_view sentences) {
        exitStatus = status;
        wasEndedByUs = isByUs;
        problem[sentences.copy(problem, maxProblemBytes - 1)] = '\0';
        hasEnd = true;
    }
};

namespace {

constexpr std::initializer_list<int> passedSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// A signal handler has no access to objects, so its data is global.
std::atomic<pid_t> running{0};
std::atomic<int> firstReceived{0};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void take(int number, siginfo_t* info, void*) {
    int none = 0;
    if (number != SIGUSR1 && number != SIGUSR2) firstReceived.compare_exchange_strong(none, number);
    const pid_t target = running.load();
    // The terminal sends these two to the run, too, but a hang-up only to the first process of the session.
    const bool isForAll = info->si_code > 0 && (number == SIGINT || number == SIGQUIT);
    if (target <= 0 || isForAll) return;
    const int saved = errno;
    ::kill(target, number);
    errno = saved;
}

class SharedMemory {
  public:
    SharedMemory() {
        void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) shared_ = new (memory) Shared;
    }
    SharedMemory& operator=(SharedMemory&&) = delete;
    ~SharedMemory() {
        if (shared_ != nullptr) ::munmap(shared_, sizeof(*shared_));
    }
    bool isThere() const { return shared_ != nullptr; }
    Shared& operator*() const { return *shared_; }
    Shared* operator->() const { return shared_; }

  private:
    Shared* shared_ = nullptr;
};

/// Redirects the streams; returns an error sentence, or empty on success.
std::string redirect(const std::filesystem::path& output) {
    const UniqueFd nothing = openNullDevice();
    const std::filesystem::path parent = output.parent_path();
    const Result<Folder> folder = Folder::open(parent.empty() ? "." : parent);
    if (!folder) return folder.error().sentence;
    // The output of an earlier warm-up.
    static_cast<void>(folder->removeFile(output.filename()));
    const UniqueFd file = folder->createFile(output.filename());
    const bool isDone = nothing >= 0 && file >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                        ::dup2(file, STDOUT_FILENO) >= 0 && ::dup2(file, STDERR_FILENO) >= 0;
    if (!isDone) return fmt::format("Cannot write {}: {}.", output.string(), std::strerror(errno));
    return {};
}

/// Does the work of a child, in which no exception may leave this function.
void workIn(Shared& shared, const std::filesystem::path& output, const std::function<RunEnd()>& work) {
    try {
        const std::string problem = output.empty() ? std::string() : redirect(output);
        const RunEnd end = problem.empty() ? work() : RunEnd{exitFailed, false, problem};
        shared.set(end.exitStatus, end.wasEndedByUs, end.problem);
    } catch (const std::bad_alloc&) {
        const capture::RecordState& state = shared.state;
        shared.set(state.hasEnded && state.exitStatus != 0 ? state.exitStatus.load() : exitFailed, false,
                   "Out of memory.");
    }
    std::fflush(nullptr);
}

/// Returns the end of a child's run. If a signal ended the child before its run ended: exit status 128 plus the signal,
/// and a `problem` that names the signal.
RunEnd endOf(const Shared& shared, int status) {
    if (shared.hasEnd) return {shared.exitStatus, shared.wasEndedByUs, shared.problem};
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return {128 + number, false,
            number > 0 ? fmt::format("Signal {} ended the recording.", number) : "The recording ended unexpectedly."};
}

}  // namespace

RecordSupervisor::RecordSupervisor() {
    firstReceived = 0;
    running = 0;
    handlers_.install(passedSignals, take);
}

int RecordSupervisor::received() const { return firstReceived.load(); }

RunEnd RecordSupervisor::workInChild(Shared& shared, const std::filesystem::path& output,
                                     const std::function<RunEnd()>& work) {
    shared.hasEnd = false;
    std::fflush(nullptr);
    // Blocked until the run has its own handlers.
    sigset_t held, before;
    sigemptyset(&held);
    for (const int number : passedSignals) sigaddset(&held, number);
    sigprocmask(SIG_BLOCK, &held, &before);
    const pid_t parent = ::getpid();
    Subprocess child = Subprocess::fork([&](int) {
        system::endWithParent();
        if (::getppid() != parent) ::_exit(1);
        handlers_.restore();
        sigprocmask(SIG_SETMASK, &before, nullptr);
        workIn(shared, output, work);
    });
    const int failure = errno;
    running = std::max(child.pid(), 0);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child.pid() < 0) return {exitFailed, false, fmt::format("Cannot start a process: {}.", std::strerror(failure))};
    const int status = child.wait();
    running = 0;
    return endOf(shared, status);
}

RunEnd RecordSupervisor::runInChild(const std::filesystem::path& output, const std::function<RunEnd()>& work) {
    const SharedMemory shared;
    if (!shared.isThere()) return {exitFailed, false, "Not enough memory to start the program."};
    return workInChild(*shared, output, work);
}

RunEnd RecordSupervisor::record(capture::RecordOptions options, const std::filesystem::path& output) {
    const SharedMemory shared;
    if (!shared.isThere()) return {exitFailed, false, "Not enough memory to start a process."};
    capture::RecordState& state = shared->state;
    options.state = &state;
    // A program whose recording is killed becomes a child of this process.
    system::adoptOrphans();
    RunEnd end = workInChild(*shared, output, [&] { return recordRun(options); });
    if (shared->hasEnd || state.program == 0) return end;

    running = state.hasEnded ? 0 : state.program.load();
    const capture::MainProcess program = capture::waitForProgram(state);
    running = 0;
    const std::string reason = end.problem;
    end = workInChild(*shared, {}, [&] { return completeRun(options, state, program, reason); });
    if (!shared->hasEnd) end.problem = fmt::format("{}\n{}", reason, keptSentence(state.runFolder));
    end.exitStatus = program.exitStatus != 0 || end.problem.empty() ? program.exitStatus : exitFailed;
    return end;
}

}  // namespace lanescope::cli
