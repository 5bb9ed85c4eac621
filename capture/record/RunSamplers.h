// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "capture/collector/Collector.h"
#include "capture/perf/PerfEvents.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/SamplerThread.h"
#include "capture/sample/runSampler.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
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
    void start(RunReader& collector);
    /// Writes the rest, before the trace is finished.
    void end(RunReader& collector);

  private:
    std::unique_ptr<PerfDrain> drain_;
};

/// Returns the running descendants of this process, even if the processes between have ended; empty
/// if /proc is unavailable. Reads all of /proc: not for a busy loop.
std::vector<pid_t> livingDescendants();

/// Child of `lanescope record` that samples counters: this program again, in its own process group, so that Ctrl-C does
/// not end it before the recorded program. Neither the program nor `record` ever waits long for it. It ends when its
/// standard input closes, thus also when `record` is killed.
class SamplerProcess {
  public:
    /// Starts one; does not wait until it samples.
    static Result<SamplerProcess> start(const SamplerOptions& options);

    pid_t pid() const { return pid_; }
    void requestEnd() { input_.reset(); }
    /// Waits until `deadline`, then kills it, and reaps it. Returns false if it had to be killed.
    bool waitUntil(std::chrono::steady_clock::time_point deadline);

  private:
    SamplerProcess() = default;

    pid_t pid_ = -1;
    UniqueFd input_;    ///< Its standard input, to which nothing is ever written.
    UniqueFd process_;  ///< A pidfd, because its number may be reused after it was reaped.
};

/// Sampler processes of a run: one for NVML, GPM and the host, and another for hardware counters. A crash in CUPTI ends
/// only the latter. If a launcher started several recordings on a host, only that of the first local rank samples.
class RunSamplers {
  public:
    /// Makes the pipe through which agents report chosen ranges, before the program begins.
    static void prepare(const RecordOptions& options, const Folder& runFolder);
    /// Starts the samplers requested by `options`, without waiting.
    RunSamplers(const RecordOptions& options, const std::filesystem::path& runFolder, const std::string& session);

    std::vector<pid_t> others() const;
    /// Returns true if there are any; cheap without samplers.
    bool areNotAlone() const;
    /// Ends the samplers and waits at most two seconds. Call it before the last poll; problems go
    /// into the trace's health.
    void end(RunReader& collector);

  private:
    void startOne(const SamplerOptions& options);

    std::vector<SamplerProcess> processes_;
    std::string problem_;
    std::string otherRank_;  ///< Not empty: another recording of this host samples.
};

}  // namespace lanescope::capture
