// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "capture/log/logDoor.h"

namespace lanescope::capture {

/// Opens logs for processes of the run that cannot do it themselves, because they gave up their
/// rights or see other folders: they ask at a socket, and get a descriptor. Only descendants of
/// this process are answered, and only files of logs in the run folder are opened. Where there can
/// be no such socket, there is none, and nobody is told.
class LogDoor {
  public:
    /// Makes the socket; nobody is answered yet.
    LogDoor();
    LogDoor(const LogDoor&) = delete;
    LogDoor& operator=(const LogDoor&) = delete;
    ~LogDoor();

    /// By which `log::askDoor` finds it; empty if there is none.
    const std::string& name() const { return name_; }
    /// Answers from now on, on a thread of its own that takes no signals. Once.
    void open(const std::filesystem::path& runFolder);

  private:
    void run();
    void answer(int connection) const;
    int fulfil(const log::DoorQuestion& question, int pid, int& descriptor) const;

    std::string name_;
    int socket_ = -1, folder_ = -1;
    std::atomic<bool> isStopping_{false};
    std::thread thread_;
};

}  // namespace lanescope::capture
