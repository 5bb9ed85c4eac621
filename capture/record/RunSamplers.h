// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/collector/Collector.h"
#include "capture/sample/runSampler.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// Processes that came from this one and still run, whatever became of those between; none where
/// /proc does not answer. Reads all of /proc: not for a busy loop.
std::vector<pid_t> livingDescendants();

/// A child of `lanescope record` that samples counters: this program again, in a process group of
/// its own, so that Ctrl-C does not end it before the program that is recorded. Whatever happens to
/// it, neither the program nor `record` waits for it for long. It ends when its standard input
/// does, and so also when we are killed.
class SamplerProcess {
  public:
    /// Starts one; does not wait until it samples.
    static Result<SamplerProcess> start(const SamplerOptions& options);
    SamplerProcess(SamplerProcess&& other) noexcept;
    SamplerProcess& operator=(SamplerProcess&&) = delete;
    ~SamplerProcess();

    pid_t pid() const { return pid_; }
    /// Tells it to end; returns at once.
    void requestEnd();
    /// Gives it until `deadline`, then kills it, and reaps it. False if it had to be killed.
    bool waitUntil(std::chrono::steady_clock::time_point deadline);

  private:
    SamplerProcess() = default;

    pid_t pid_ = -1;
    int input_ = -1;    ///< Its standard input, which we never write to.
    int process_ = -1;  ///< A pidfd: its number may be somebody else's once it was waited for.
};

struct RecordOptions;

/// The sampler processes of a run: one for NVML, GPM and the host, and another for hardware
/// counters, where a crash in CUPTI takes only itself. Of several recordings that a launcher
/// started on a host only that of the first local rank samples.
class RunSamplers {
  public:
    /// Makes the pipe through which agents tell of chosen ranges. Before the program begins.
    static void prepare(const RecordOptions& options, const std::filesystem::path& runFolder);
    /// Starts those that `options` ask for; waits for nothing.
    RunSamplers(const RecordOptions& options, const std::filesystem::path& runFolder);

    /// Living descendants of this process that are not samplers.
    std::vector<pid_t> others() const;
    /// Whether there are any; cheap without samplers.
    bool areNotAlone() const;
    /// Ends them and waits at most two seconds. Call it before the last poll; what went wrong goes
    /// into the trace's health.
    void end(Collector& collector);

  private:
    void start(const std::filesystem::path& runFolder, const RecordOptions& options);
    void startOne(const SamplerOptions& options);

    std::vector<SamplerProcess> processes_;
    std::string problem_;
    std::string otherRank_;  ///< Not empty: another recording of this host samples.
};

}  // namespace lanescope::capture
