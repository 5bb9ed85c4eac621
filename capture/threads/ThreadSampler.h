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

#include "capture/sample/ProcessCounters.h"
#include "capture/sample/Sampler.h"
#include "capture/threads/PythonProcess.h"
#include "capture/threads/StateRuns.h"

namespace lanescope::capture {

/// One thread of another process, by /proc. A sample of a thread that did not run since the last
/// one costs one read, 0.4 us. One thread.
class WatchedThread {
  public:
    WatchedThread(pid_t process, pid_t thread, SampleLog& log);

    /// Samples it. Returns false if it has ended. `python` is null if there is none, `memory` is its reader.
    bool sample(int64_t nowNs, PythonProcess* python, RemoteMemory& memory, std::vector<char>& buffer);
    void end() { runs_.end(); }
    /// Returns true if it ran in most of the latest samples.
    bool isBusy() const { return busy_ >= maxBusy / 2; }
    bool isIdle() const { return busy_ == 0; }
    /// Writes its name if that has changed; checks that rarely.
    void writeName(std::vector<char>& buffer);
    /// Returns true if the kernel reports its system call.
    bool hasCalls() const { return hasCalls_; }

  private:
    static constexpr int maxBusy = 16;
    struct Times {
        int64_t cpuNs = 0, delayNs = 0, slices = 0;
        bool operator==(const Times&) const = default;
    };
    bool readTimes(std::vector<char>& buffer, Times& times) const;
    int64_t readWaits(std::vector<char>& buffer);
    SystemCall readCall(std::vector<char>& buffer);
    char readState(std::vector<char>& buffer) const;
    ThreadSample sampleOf(const SystemCall& call, int64_t passedNs, const Times& since, PythonProcess* python,
                          std::vector<char>& buffer);

    SampleLog& log_;
    const pid_t process_, thread_;
    const std::string folder_;
    ProcFile times_, call_, status_;
    bool hasCall_ = false;  ///< `call_` and `status_` were opened.
    bool hasCalls_ = true;
    StateRuns runs_;
    Times latest_;
    int64_t latestWaits_ = 0;
    uint32_t stack_ = 0;
    RemoteMemory::Trail trail_;
    int busy_ = 0;
    std::string name_;
    uint32_t nameChecks_ = 0;  ///< Checks of its name.
};

/// A process below the recorder. It is watched once it runs Python, or has the driver or our agent
/// loaded; shells and launchers are not. One thread.
class WatchedProcess {
  public:
    WatchedProcess(pid_t pid, SampleLog& log, StackReading& reading);

    void find(int64_t nowNs, std::vector<char>& buffer);
    /// Samples its threads: the first one, those that run Python and ran lately, and those that run
    /// much, each time; all if `isTurnOfAll`.
    void sample(bool isTurnOfAll, std::vector<char>& buffer);
    void end();

    bool isWatched() const { return isWatched_; }
    bool runsPython() const { return python_.has_value() || isUnreadable_; }
    size_t threadCount() const { return threads_.size(); }
    /// Returns the version of an unsupported Python; empty if there is none.
    const std::string& unknownVersion() const { return unknownVersion_; }
    /// Returns true if the system denies access to its memory, or to the calls in which it sleeps.
    bool isMemoryRefused() const { return memory_.isRefused(); }
    bool areCallsRefused() const;

  private:
    static constexpr size_t maxThreads = 1'024;
    void findImages(int64_t nowNs);
    uint32_t parent() const;
    void findThreads(std::vector<char>& buffer);

    SampleLog& log_;
    StackReading& reading_;
    const pid_t pid_;
    const std::string folder_;
    RemoteMemory memory_;
    std::string program_;
    std::string unknownVersion_;
    bool isWatched_ = false;
    bool isUnreadable_ = false;  ///< It runs Python, whose memory is not readable.
    int mapReadings_ = 0;        ///< Readings of the memory map since the last exec.
    int64_t nextImagesNs_ = 0;
    std::optional<PythonProcess> python_;
    std::map<pid_t, WatchedThread> threads_;
};

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
    static constexpr double maxHz = 1'000;

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
