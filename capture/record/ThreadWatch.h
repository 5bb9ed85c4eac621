// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>

#include "capture/collector/Collector.h"
#include "capture/perf/PerfEvents.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/SamplerThread.h"
#include "model/format/Result.h"
#include "model/format/files.h"

namespace lanescope::capture {

struct RecordOptions;

/// Sampler of the recorded threads, on a thread of `record` itself, which takes no signals. Writes
/// a log in the run folder. See `ThreadSampler`.
class ThreadWatch {
  public:
    ThreadWatch(const RecordOptions& options, const std::filesystem::path& runFolder, const std::string& session);
    ~ThreadWatch();

    /// Ends the log. Call it before the last poll.
    void end();

  private:
    /// Ends the thread, waiting up to a second, and returns true. Returns false without a thread, or if the thread
    /// hangs and is abandoned with its log.
    bool hasEnded();

    std::unique_ptr<SampleLog> log_;
    std::unique_ptr<SamplerThread> thread_;
};

/// The kernel's perf events of a recording, if requested, written into the run folder.
class PerfWatch {
  public:
    /// Checks that the system allows the perf events requested by `options`, before anything is started.
    static Result<void> check(const RecordOptions& options);
    /// Opens the events of `program`, which has not begun. Does nothing unless requested.
    static Result<PerfWatch> open(const RecordOptions& options, pid_t program, const Folder& runFolder);
    /// Starts writing on a thread, once the program runs.
    void start(Collector& collector);
    /// Writes the rest, before the trace is finished.
    void end(Collector& collector);

  private:
    std::unique_ptr<PerfDrain> drain_;
};

}  // namespace lanescope::capture
