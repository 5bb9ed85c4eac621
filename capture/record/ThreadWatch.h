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

namespace lanescope::capture {

struct RecordOptions;

/// Looks at the threads of what is recorded, on a thread of `record` itself, which takes no
/// signals; what it sees goes into a log in the run folder. See `ThreadSampler`.
class ThreadWatch {
  public:
    /// Begins unless `options` say not to.
    ThreadWatch(const RecordOptions& options, const std::filesystem::path& runFolder);
    ~ThreadWatch();

    /// Ends the log. Call it before the last poll.
    void end();

  private:
    /// Asks the thread to end. False if there is none (any more), or if it hangs and has to be
    /// left.
    bool hasEnded();

    std::unique_ptr<SampleLog> log_;
    std::unique_ptr<SamplerThread> thread_;
};

/// The kernel's perf events of what is recorded, where they are asked for, written into the run
/// folder.
class PerfWatch {
  public:
    /// Whether the system allows what `options` ask for; before anything is begun.
    static Result<void> check(const RecordOptions& options);
    /// Opens the events of `program`, which has not begun. Does nothing unless it is asked for.
    static Result<PerfWatch> open(const RecordOptions& options, pid_t program,
                                  const std::filesystem::path& runFolder);
    /// Begins to write, on a thread. Once the program runs.
    void start(Collector& collector);
    /// Takes what is left. Before the trace is finished.
    void end(Collector& collector);

  private:
    std::unique_ptr<PerfDrain> drain_;
};

}  // namespace lanescope::capture
