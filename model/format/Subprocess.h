// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/format/UniqueFd.h"

namespace lanescope {

/// Returns pointers to the texts, null-terminated for `exec`; valid as long as the texts.
std::vector<char*> pointersTo(const std::vector<std::string>& texts);

/// Returns the path of an executable file: a name with a slash as it is, another name from the absolute
/// folders of PATH. Relative and empty folders are skipped, because others may write to the current one.
/// Returns an empty path if there is none. Any thread that may call getenv.
std::filesystem::path findProgram(const std::string& name);

/// Returns the file of the running program; empty if unknown.
std::filesystem::path ownProgram();

/// A child process of this one, ended and reaped at the latest with this object. One thread.
class Subprocess {
  public:
    struct Options {
        char* const* environment = nullptr;  ///< Null: the environment of this process.
        int input = -1;                      ///< Its standard input; /dev/null if -1.
        int output = -1, errors = -1;        ///< Its standard output and error; /dev/null if -1.
        bool hasOwnGroup = false;            ///< Not reached by signals of the terminal.
        bool hasDefaultSignals = false;      ///< Does not inherit blocked and ignored signals.
    };

    /// Starts a program. `words` begin with its name. On failure `pid` is -1 and `errno` is set.
    static Subprocess spawn(const std::filesystem::path& program, const std::vector<std::string>& words,
                            const Options& options);
    /// Forks a child that passes the writing end of a pipe to `work` and exits with status 0. On
    /// failure as `spawn`. `work` may only do what is safe after a fork if there are other threads.
    static Subprocess fork(const std::function<void(int output)>& work);
    Subprocess(Subprocess&& other) noexcept
        : pid_(other.release()), hasOwnGroup_(other.hasOwnGroup_), output_(std::move(other.output_)) {}
    Subprocess& operator=(Subprocess&&) = delete;
    ~Subprocess();

    /// Returns -1 if there is none, or it was reaped.
    pid_t pid() const { return pid_; }
    /// Leaves the process running, for the caller to reap, and returns its number.
    pid_t release() { return std::exchange(pid_, -1); }
    /// Returns what a forked child wrote; waits until it closes the pipe.
    std::string output() const;
    /// Kills it, and all of its group if that is its own.
    void kill() const;
    /// Waits for its end and returns its wait status, 0 if other code has reaped it.
    int wait();
    /// Returns its wait status if it has ended, without waiting. -1 if other code has reaped it.
    std::optional<int> poll();

  private:
    Subprocess() = default;

    pid_t pid_ = -1;
    bool hasOwnGroup_ = false;
    UniqueFd output_;
};

}  // namespace lanescope
