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

/// How many GPUs what is recorded can use: those that the driver shows, but no more than
/// CUDA_VISIBLE_DEVICES of the recorder lists, which ends at the first that is negative; 1 if none.
/// Any thread.
int usableGpus();
/// Of so many that the driver shows, and what that variable says, if it is set.
int usableGpus(int shown, std::optional<std::string_view> listed);

/// Looks at the threads of all processes below the recorder: what each does, or waits for, and at
/// which line of Python. Has to run in the recorder itself, since only an ancestor may read the
/// memory of a process where the system is careful. Nothing in the processes is stopped or
/// signalled. One thread.
class ThreadSampler : public Sampler {
  public:
    /// `hz`: how often a second threads are looked at that run Python or much; others five times as
    /// seldom. Looks come at uneven times, so that none falls into step with what the program does.
    /// Without `readsStacks` nobody's lines are read.
    ThreadSampler(SampleLog& log, double hz, pid_t recorder, bool readsStacks = true);

    /// The grid of its turns; to be the period of its `SamplerThread`.
    static constexpr int64_t gridNs = 1'000'000;
    static constexpr double usualHz = 100, fastestHz = 1'000;

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
    uint64_t turns_ = 0, looksForProcesses_ = 0;
    uint64_t random_ = 0x9e3779b97f4a7c15;
    double shareOfCore_ = 0;  ///< That it may take.
    double slowness_ = 1;     ///< By which its turns are further apart, to keep to that.
    int64_t judgedNs_ = 0, judgedCpuNs_ = 0, turnsCpuNs_ = 0;
    uint64_t judgedTurns_ = 0;
    double costOfTurn_ = 0, shareOfOther_ = 0;  ///< Mean of the latest seconds.
    size_t mostThreads_ = 0, mostProcesses_ = 0;
    std::string unknownVersion_;
    bool hasSaidUnknown_ = false, hasSaidMemory_ = false, hasSaidCalls_ = false;
};

}  // namespace lanescope::capture
