// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/threads/PythonProcess.h"
#include "capture/watch/HangReport.h"

namespace lanescope::capture {

/// Reader of the present places of a process's threads and of its child processes, from /proc and by
/// `process_vm_readv`. Nothing in the process is stopped, signalled or changed. Native frames are not read: without
/// ptrace the registers of a thread are unknown. One thread.
class ThreadPlaces {
  public:
    explicit ThreadPlaces(pid_t pid) : pid_(pid), memory_(pid) {}

    /// Sets `threads`, `children` and `isAlive` of `process`, and `end` if the manner of its end is readable. `sinceNs`
    /// of a thread is the time of the first call that found the thread at its present place, so call it repeatedly.
    /// `nowNs` is the time of events. Takes 1 ms per process, more with many threads.
    void read(int64_t nowNs, ProcessState& process);

  private:
    /// A file for which a thread waits.
    struct Waited {
        size_t thread;
        int file;
        bool isWrite;
    };
    struct Place {
        std::string text;
        int64_t sinceNs = 0;
    };
    std::vector<Waited> readThreads(int64_t nowNs, ProcessState& process);

    const pid_t pid_;
    RemoteMemory memory_;
    std::map<uint32_t, Place> places_;  // by thread
    std::map<pid_t, ThreadPlaces> children_;
};

}  // namespace lanescope::capture
