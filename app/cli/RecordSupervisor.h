// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "capture/record/ChildProcess.h"
#include "capture/record/Recorder.h"

namespace lanescope::cli {

struct Shared;

struct RunEnd {
    int exitStatus = 0;         ///< The program's; 128 plus the number of the signal that ended it.
    bool wasEndedByUs = false;  ///< By SIGTERM, as set by `--kill sigterm`.
    /// Reasons for a missing run or trace, one sentence per line; empty if there are none.
    std::string problem;
};

/// Runs recordings in processes of their own and survives them: signals that end programs are passed
/// on to them, and if one is killed, as by a lack of memory, the program goes on, its status is kept and the
/// trace is made of the logs. The terminal sends its signals to the run directly. At most one
/// instance at a time, in a process of one thread; ignored signals stay ignored.
class RecordSupervisor {
  public:
    RecordSupervisor();

    /// Returns the number of the first signal received that asks for an end; 0 for none.
    int received() const;

    /// Runs `work` in a forked process and waits for it. Its leftovers (threads, memory, orphaned processes) do not
    /// affect this process. Its output goes to the file `output` and its input is empty; if `output` is empty, it
    /// inherits the streams.
    RunEnd runInChild(const std::filesystem::path& output, const std::function<RunEnd()>& work);

    /// Records a run of a program as `recordRun` does, in a forked process as in `runInChild`.
    RunEnd record(capture::RecordOptions options, const std::filesystem::path& output = {});

  private:
    RunEnd workInChild(Shared& shared, const std::filesystem::path& output, const std::function<RunEnd()>& work);

    capture::SignalHandlers handlers_;
};

}  // namespace lanescope::cli
