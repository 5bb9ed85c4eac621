// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/threads/ForeignMemory.h"
#include "capture/threads/PythonProcess.h"
#include "capture/threads/WatchedThread.h"

namespace lanescope::capture {

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
