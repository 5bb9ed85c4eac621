// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "capture/sample/ProcFile.h"
#include "capture/threads/PythonProcess.h"
#include "capture/threads/StateRuns.h"
#include "capture/threads/sleepReason.h"

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

}  // namespace lanescope::capture
