// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <functional>
#include <string>

namespace lanescope::cli {

/// How a run of a program ended.
struct RunEnd {
    int exitStatus = 0;         ///< The program's; 128 and the number of the signal that ended it.
    bool wasEndedByUs = false;  ///< By SIGTERM, as `--kill sigterm` asks.
    /// Why it did not run or has no trace, a sentence a line; empty if all is well.
    std::string problem;
};

/// Keeps this process alive through the signals that ask programs to end (Ctrl-C, SIGTERM, SIGHUP),
/// while it goes through several runs, so that it can end in order. The terminal sends them to the
/// run by itself; what comes from elsewhere is passed on to it. At most one at a time; signals that
/// were ignored before stay ignored.
class RunSignals {
  public:
    RunSignals();
    RunSignals(const RunSignals&) = delete;
    RunSignals& operator=(const RunSignals&) = delete;
    ~RunSignals();

    /// The number of the first that came; 0 for none.
    int taken() const;

    /// Does `work` in a process of its own, which has this one's memory as it is now, and waits for
    /// it. Whatever it leaves behind, threads, memory or orphans of a program, is not ours. What it
    /// prints goes to the file `output`, and it reads nothing; if that is empty, it keeps our
    /// streams. Call it while this process has one thread.
    RunEnd runApart(const std::filesystem::path& output, const std::function<RunEnd()>& work);

  private:
    void giveBack() const;

    static constexpr std::array<int, 3> numbers{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, numbers.size()> before_{};
};

}  // namespace lanescope::cli
