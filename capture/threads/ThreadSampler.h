// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sample/ProcFile.h"
#include "capture/sample/Sampler.h"
#include "capture/threads/WatchedProcess.h"

namespace lanescope::capture {

/// Returns the number of GPUs that the recorded processes can use; 1 if none. CUDA_VISIBLE_DEVICES of the recorder
/// limits the driver's number; its list ends at the first negative number. Any thread.
int usableGpus();
/// Returns the number for `shown` GPUs of the driver and the value of that variable, if it is set.
int usableGpus(int shown, std::optional<std::string_view> listed);

/// Sampler of the threads of all processes below the recorder: the state or wait of each, and its
/// line of Python. Must run in the recorder itself, since on a restrictive system only an ancestor
/// may read the memory of a process. Nothing in the processes is stopped or signalled. One thread.
class ThreadSampler : public Sampler {
  public:
    /// `hz`: sampling rate of threads that run Python or use much time; others are sampled at a
    /// fifth of it. Samples come at uneven intervals, so that they do not synchronize with the
    /// program. Without `readsStacks` no lines are read.
    ThreadSampler(SampleLog& log, double hz, pid_t recorder, bool readsStacks = true);

    /// Grid of its turns, and the period of its `SamplerThread`.
    static constexpr int64_t gridNs = 1'000'000;
    static constexpr double defaultHz = 100, maxHz = 1'000;

    const char* source() const override { return "threads"; }
    const char* title() const override { return "threads"; }
    bool begin() override;
    bool sample() override;
    int64_t dueNs() const override { return nextNs_; }
    void end() override;
    int64_t slackNs() const override { return 100'000; }

  private:
    void findProcesses(int64_t nowNs);
    void keepToShare(int64_t nowNs);
    int64_t untilNextNs();
    std::string describe() const;
    void noteRefusals();

    SampleLog& log_;
    const int64_t periodNs_;
    ProcessTree tree_;
    std::map<pid_t, std::unique_ptr<WatchedProcess>> processes_;
    StackReading reading_;
    std::vector<char> buffer_;
    int64_t begunNs_ = 0, nextNs_ = 0, nextFindNs_ = 0, nextFlushNs_ = 0;
    uint64_t turns_ = 0, processSearches_ = 0;
    uint64_t random_ = 0x9e3779b97f4a7c15;
    double shareOfCore_ = 0;  ///< Maximum share.
    double slowness_ = 1;     ///< Factor on the distance of turns that keeps it within the share.
    int64_t judgedNs_ = 0, judgedCpuNs_ = 0, turnsCpuNs_ = 0;
    uint64_t judgedTurns_ = 0;
    double costOfTurn_ = 0, shareOfOther_ = 0;  ///< Mean of the latest seconds.
    size_t maxThreads_ = 0, maxProcesses_ = 0;
    std::string unknownVersion_;
    bool hasReportedUnknown_ = false, hasReportedMemory_ = false, hasReportedCalls_ = false;
};

}  // namespace lanescope::capture
