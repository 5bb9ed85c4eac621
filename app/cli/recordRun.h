// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <functional>
#include <string>

#include "capture/collector/Collector.h"
#include "capture/record/Recorder.h"

namespace lanescope::cli {

/// The end of a program's run.
struct RunEnd {
    int exitStatus = 0;         ///< The program's; 128 plus the number of the signal that ended it.
    bool wasEndedByUs = false;  ///< By SIGTERM, as set by `--kill sigterm`.
    /// Reasons for a missing run or trace, one sentence per line; empty if there are none.
    std::string problem;
};

/// Keeps this process alive through signals that end programs (Ctrl-C, SIGTERM, SIGHUP) during
/// several runs, so that it can finish cleanly. The terminal sends them to the run directly; other
/// signals are forwarded to it. At most one instance at a time; ignored signals stay ignored.
class RunSignals {
  public:
    RunSignals();
    RunSignals(const RunSignals&) = delete;
    RunSignals& operator=(const RunSignals&) = delete;
    ~RunSignals();

    /// Returns the number of the first signal received; 0 for none.
    int received() const;

    /// Runs `work` in a forked process and waits for it. Its leftovers (threads, memory, orphaned processes) do not
    /// affect this process. Its output goes to the file `output` and its input is empty; if `output` is empty, it
    /// inherits the streams. Call while this process has one thread.
    RunEnd runInChild(const std::filesystem::path& output, const std::function<RunEnd()>& work);

  private:
    void restoreHandlers() const;

    static constexpr std::array<int, 3> numbers{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, numbers.size()> before_{};
};

/// Returns, for example, "1,234 kernels, 56 memcpys" for the kinds present; "no event" if there are none.
std::string countsSentence(const capture::ImportCounts& counts);

/// Prints the path and the content of the trace.
void printContent(const capture::CollectedRun& run);

/// Prints the time to finish the trace and the size of the unread logs when that began. Prints
/// nothing for a trace that was not just recorded.
void printClosing(const capture::CollectedRun& run);

/// Prints the warnings about the trace, most severe first; refers to `lanescope info` for long lists.
void reportWarnings(const capture::CollectedRun& run);

/// Returns the steps of `record` and `recover` that finish a trace before it gets its name: summary and index, by
/// `TraceClosing`. Shows progress on stderr if that is a terminal. Ctrl+C or SIGTERM skips the remaining steps, and the
/// trace gets its name at once. Errors are reported, and the trace is complete nevertheless. `summaries` is the folder
/// for a separate summary file; empty for none.
capture::ClosingSteps closeRecorded(const std::filesystem::path& summaries = {});

/// Records a run of a program, builds its trace, and reports its content and warnings. The returned `RunEnd` contains
/// errors for the caller to report. Call on the main thread before any other is created.
RunEnd recordRun(const capture::RecordOptions& options);

/// Prints the reason for a missing trace, if any.
void printProblem(const RunEnd& end);

/// Calls `recordRun` for `count` runs one after the other, each in a separate process, up to the
/// first that fails or is interrupted. Reports errors and returns the exit status: that of the last
/// run, or of the signal. Adds "%n" to a name without it.
int recordRuns(capture::RecordOptions options, int count);

/// Returns `pattern` with "-%n" before its ending, unless it has a number.
std::string numberedPattern(const std::string& pattern);

}  // namespace lanescope::cli
