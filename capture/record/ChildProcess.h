// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "model/format/Result.h"

namespace lanescope::capture {

/// Why a program did not begin.
struct StartProblem {
    Error error;
    int signal = 0;  ///< That ended it before it could; 0 if none did.
};

/// A program that was forked but waits for a word before it begins, so that its process id can go
/// into file names and its start can still be called off. It shares our terminal, process group,
/// standard streams and signal settings. Start it before any thread is made.
class ChildProcess {
  public:
    /// Forks. `environment` holds "NAME=value" entries; `begin` adds more.
    static Result<ChildProcess> fork(const std::filesystem::path& program,
                                     const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& environment);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;
    /// Calls the start off if `begin` was not called.
    ~ChildProcess();

    pid_t pid() const { return pid_; }
    /// Whether `wait` has seen its end.
    bool hasEnded() const { return pid_ < 0; }
    /// Lets the program run, with at most four more entries in its environment; fails if the system
    /// cannot execute it. SIGPIPE is ignored by then, in case a signal has ended the child.
    Result<void, StartProblem> begin(const std::vector<std::string>& lastEntries);
    /// Waits until the program ends, reaping others of its tree that end meanwhile. Returns its
    /// exit status, or 128 and the number of the signal that ended it. Needs no memory.
    int wait();

  private:
    ChildProcess() = default;

    std::string program_;
    pid_t pid_ = -1;
    int gate_ = -1;     ///< The last entries here let the program begin; closing it calls it off.
    int failure_ = -1;  ///< The child's errno comes here if it could not begin.
};

/// Collects ended processes that became our children because their parents had ended. Does not
/// wait. Returns true if some of our children still run.
bool reapOrphans();

/// Why there is no file to execute.
struct ProgramProblem {
    Error error;
    bool isFound = false;  ///< Something of that name is there, but it cannot be executed.
};

/// The file that running `name` executes: itself if it holds a slash, else the first executable of
/// that name in PATH.
Result<std::filesystem::path, ProgramProblem> findProgram(const std::string& name);

/// While it lives, signals that mean the program go to the program: SIGTERM, SIGHUP, SIGUSR1 and
/// SIGUSR2 are passed on, and so are SIGINT and SIGQUIT unless they come from the terminal, which
/// sends them to both by itself. We live on to write the trace. Signals that were ignored before
/// stay ignored. At most one at a time; make it on the main thread.
class SignalForwarder {
  public:
    explicit SignalForwarder(pid_t target);
    SignalForwarder(const SignalForwarder&) = delete;
    SignalForwarder& operator=(const SignalForwarder&) = delete;
    ~SignalForwarder();

    /// Sends a signal to the program, unless it has ended. Any thread.
    void send(int number) const;
    /// The program has ended and its number may be used again: swallow signals from here on.
    void stopForwarding();
    /// True once a signal came after `stopForwarding`, from the terminal or elsewhere: whoever sent
    /// it wants no more waiting.
    bool cameAfterEnd() const;

  private:
    static constexpr std::array<int, 6> signals{SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};
    std::array<struct sigaction, signals.size()> previous_{};
};

}  // namespace lanescope::capture
