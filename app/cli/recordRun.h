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

/// "1,234 kernels, 56 memcpys": the kinds of which there are any; "no event" if there are none.
std::string countsSentence(const capture::ImportCounts& counts);

/// Says where the trace is and what is in it.
void sayWhatIsIn(const capture::CollectedRun& run);

/// Says how long the trace took to close, and what of the logs was unread when that began. Nothing
/// of a trace that was not recorded just now.
void sayHowItClosed(const capture::CollectedRun& run);

/// Says what is doubtful about the trace, worst first; leaves a long list to `lanescope info`.
void reportWarnings(const capture::CollectedRun& run);

/// What `record` and `recover` do with a trace before it gets its name: summary and index, as
/// `TraceClosing` makes them. Shows progress on stderr where that is a terminal. Ctrl+C or SIGTERM
/// leaves out what is not done yet, and the trace gets its name at once; what fails is said, and
/// the trace is whole all the same. `summaries` is the folder that a summary in a file of its own
/// goes to; empty: there is none.
capture::ClosingSteps closeRecorded(const std::filesystem::path& summaries = {});

/// Records a run of a program, makes its trace and says what is in it and what is doubtful; what
/// kept it from that is in the answer, for the caller to say. The main thread, before any other is
/// made.
RunEnd recordRun(const capture::RecordOptions& options);

/// Says what kept a run from its trace, if anything did.
void sayProblem(const RunEnd& end);

/// The same as `recordRun` for `count` runs one after the other, each in a process of its own, up
/// to the first that fails or is interrupted. Says what went wrong and returns the exit status:
/// that of the last run, or of the signal. A name without "%n" gets one.
int recordRuns(capture::RecordOptions options, int count);

/// `pattern` with "-%n" before its ending, unless it has a number.
std::string numberedPattern(const std::string& pattern);

}  // namespace lanescope::cli
