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
#include "capture/threads/ForeignMemory.h"
#include "capture/threads/PythonProcess.h"
#include "capture/threads/StateRuns.h"

namespace lanescope::capture {

/// One thread of another process, as /proc tells of it. A look that finds that it did not run since
/// the one before costs one read, 0.4 us. One thread.
class WatchedThread {
  public:
    WatchedThread(pid_t process, pid_t thread, SampleLog& log);

    /// Looks at it; false if it is gone. `python` is null where there is none, `memory` what it
    /// reads with.
    bool look(int64_t nowNs, PythonProcess* python, ForeignMemory& memory,
              std::vector<char>& buffer);
    void end() { runs_.end(); }
    /// Whether it ran in most of the latest looks.
    bool isBusy() const { return busy_ >= mostBusy / 2; }
    /// Whether it ran in none of them.
    bool isIdle() const { return busy_ == 0; }
    /// Tells what it is called if that is not what it was called before; looks at that seldom.
    void tellName(std::vector<char>& buffer);
    /// Whether the kernel tells of a system call.
    bool tellsCalls() const { return tellsCalls_; }

  private:
    static constexpr int mostBusy = 16;
    /// What the kernel has counted so far.
    struct Times {
        int64_t cpuNs = 0, delayNs = 0, slices = 0;
        bool operator==(const Times&) const = default;
    };
    bool readTimes(std::vector<char>& buffer, Times& times) const;
    int64_t readWaits(std::vector<char>& buffer);
    SystemCall readCall(std::vector<char>& buffer);
    char readState(std::vector<char>& buffer) const;
    SeenState seenOf(const SystemCall& call, int64_t passedNs, const Times& since,
                     PythonProcess* python, std::vector<char>& buffer);

    SampleLog& log_;
    const pid_t process_, thread_;
    const std::string folder_;
    ProcFile times_, call_, status_;
    bool hasCall_ = false;  ///< `call_` and `status_` were opened.
    bool tellsCalls_ = true;
    StateRuns runs_;
    Times latest_;
    int64_t latestWaits_ = 0;
    uint32_t stack_ = 0;
    ForeignMemory::Trail trail_;
    int busy_ = 0;
    std::string name_;
    uint32_t asks_ = 0;  ///< For its name.
};

/// A process below the recorder. It is watched once it runs Python, or has the driver or our agent
/// loaded; shells and launchers are not. One thread.
class WatchedProcess {
  public:
    WatchedProcess(pid_t pid, SampleLog& log, StackReading& reading);

    /// Looks what there is in it that could be watched, and which threads it has; once a second,
    /// and more often while the recording begins.
    void find(int64_t nowNs, std::vector<char>& buffer);
    /// Looks at its threads: at those that run Python and ran lately, those that run much, and at
    /// the first, each time; at all if `isTurnOfAll`.
    void look(bool isTurnOfAll, std::vector<char>& buffer);
    void end();

    bool isWatched() const { return isWatched_; }
    bool runsPython() const { return python_.has_value() || isHidden_; }
    size_t threadCount() const { return threads_.size(); }
    /// A version of Python whose stacks nobody can read; empty if there is none.
    const std::string& unknownVersion() const { return unknownVersion_; }
    /// Whether the system keeps its memory, or the calls that it sleeps in, from us.
    bool isMemoryRefused() const { return memory_.isRefused(); }
    bool areCallsRefused() const;

  private:
    static constexpr size_t mostThreads = 1'024;
    void findImages(int64_t nowNs);
    uint32_t parent() const;
    void findThreads(std::vector<char>& buffer);

    SampleLog& log_;
    StackReading& reading_;
    const pid_t pid_;
    const std::string folder_;
    ForeignMemory memory_;
    std::string program_;
    std::string unknownVersion_;
    bool isWatched_ = false;
    bool isHidden_ = false;  ///< It runs Python, whose memory may not be read.
    int looks_ = 0;          ///< At the memory map, since the program became what it is.
    int64_t nextImagesNs_ = 0;
    std::optional<PythonProcess> python_;
    std::map<pid_t, WatchedThread> threads_;
};

}  // namespace lanescope::capture
