// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/log/logDoor.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

/// Server that opens logs for processes of the run that gave up their rights or see other folders. They connect to a
/// socket and get a descriptor. It answers only descendants of this process and opens only files of logs in the run
/// folder. Without support for such sockets it does nothing and reports nothing.
class LogDoor {
  public:
    /// Makes the socket; requests are not answered yet.
    LogDoor();
    LogDoor(const LogDoor&) = delete;
    LogDoor& operator=(const LogDoor&) = delete;
    ~LogDoor();

    /// Returns the socket's name for `log::requestLog`; empty if there is none.
    const std::string& name() const { return name_; }
    /// Answers requests from now on, on a thread of its own that takes no signals. Once.
    void open(const Folder& runFolder);
    /// Process that can write neither a log nor a sign of that, for example because the disk has no free inode.
    struct LostLog {
        int pid = 0;    ///< As the process sees it.
        int error = 0;  ///< errno.
        std::string program;
    };
    /// Returns the processes that reported this since the last call, at most `maxLostLogs`. Any thread.
    std::vector<LostLog> takeLost();
    static constexpr size_t maxLostLogs = 1000;

  private:
    void run();
    void answer(int connection);
    int fulfil(const log::DoorRequest& question, int pid, UniqueFd& descriptor);
    int keepLost(const std::string& sign, int error, int pid);

    std::string name_;
    UniqueFd socket_;
    std::optional<Folder> folder_;
    std::atomic<bool> isStopping_{false};
    std::thread thread_;
    std::mutex mutex_;  // guards the member below
    std::vector<LostLog> lost_;
};

}  // namespace lanescope::capture
