// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "model/format/Result.h"
#include "model/format/UniqueFd.h"

namespace lanescope::capture {

struct StartProblem {
    Error error;
    int signal = 0;  ///< Signal that ended it before; 0 if none did.
};

/// A forked program that waits before exec, so that its process id can be part of file names and
/// its start can be cancelled. It shares our terminal, process group, standard streams and signal
/// settings. Start it before any thread is made.
class ChildProcess {
  public:
    /// Forks. `environment` contains "NAME=value" entries; `begin` adds more.
    static Result<ChildProcess> fork(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& environment);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;
    /// Cancels the start if `begin` was not called.
    ~ChildProcess();

    pid_t pid() const { return pid_; }
    bool hasEnded() const { return pid_ < 0; }
    /// Starts the program, with at most eight more entries in its environment. Fails if the system
    /// cannot execute it. SIGPIPE is ignored by then, in case a signal has ended the child.
    Result<void, StartProblem> begin(const std::vector<std::string>& lastEntries);
    /// Waits until the program ends, and meanwhile reaps other ended processes of its tree. Returns its exit status, or
    /// 128 plus the number of the signal that ended it. The program stays a zombie until `reapOrphans`: if this process
    /// is killed before it stores the status, the process that adopts the zombie can read it. Needs no memory.
    int wait();

  private:
    ChildProcess() = default;

    std::string program_;
    pid_t pid_ = -1;
    UniqueFd gate_;     ///< Writing the last entries starts the program; closing it cancels the start.
    UniqueFd failure_;  ///< Receives the child's errno if it could not begin.
};

/// Reaps ended processes that became our children after their parents had ended. Does not wait.
/// Returns true if some of our children still run.
bool reapOrphans();

/// Returns the parent of a process, its parent and so on; empty if there is no such process. Any thread.
std::vector<pid_t> ancestorsOf(pid_t pid);

struct ProgramProblem {
    Error error;
    bool isFound = false;  ///< A file of that name exists, but cannot be executed.
};

/// Returns the file that running `name` executes: itself if it contains a slash, else the first
/// executable of that name in PATH.
Result<std::filesystem::path, ProgramProblem> findProgram(const std::string& name);

/// Handles signals during its lifetime. Signals that were ignored before stay ignored.
class SignalHandlers {
  public:
    SignalHandlers() = default;
    SignalHandlers& operator=(SignalHandlers&&) = delete;
    ~SignalHandlers() { restore(); }

    /// Call it at most once.
    void install(std::initializer_list<int> numbers, void (*handler)(int, siginfo_t*, void*));
    /// Restores the handlers from before `install`, as in a forked process.
    void restore() const;

  private:
    std::vector<std::pair<int, struct sigaction>> before_;  ///< By signal number.
};

/// Forwards signals for the program during its lifetime: SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2. It forwards SIGINT and
/// SIGQUIT unless they come from the terminal, which sends them to both processes. This process survives to write the
/// trace. Signals that were ignored before stay ignored. At most one instance at a time; make it on the main thread.
class SignalForwarder {
  public:
    explicit SignalForwarder(pid_t target);
    SignalForwarder& operator=(SignalForwarder&&) = delete;
    ~SignalForwarder();

    /// Sends a signal to the program, unless it has ended. Any thread.
    void send(int number) const;
    /// Ignores signals from here on: the program has ended and its number may be reused.
    void stopForwarding();
    /// Returns true if a signal came after `stopForwarding`, from the terminal or elsewhere, as a
    /// request to stop waiting.
    bool hasSignalAfterEnd() const;

  private:
    SignalHandlers handlers_;
};

}  // namespace lanescope::capture
