// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/sample/ProcFile.h"
#include "capture/threads/PythonProcess.h"
#include "capture/threads/RemoteMemory.h"
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

}  // namespace lanescope::capture
