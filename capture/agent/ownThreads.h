// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/log/MonotonicCondition.h"

namespace lanescope::agent {

/// Semaphore on which one thread sleeps until a wake-up or a timeout, independent of changes to the
/// system time. A POSIX semaphore supports that only since glibc 2.30. No eventfd, because a
/// program may close descriptors that it does not recognize.
class WakeUp {
  public:
    /// Wakes the sleeper. Any thread, and a signal handler that preserves errno. Two calls before
    /// the sleeper wakes count as one.
    void request() {
        if (requested_.exchange(1) == 0) requested_.wake(1);
    }

    /// Sleeps for at most `durationNs`. Returns at once if `request` was called since the last call. May return early.
    void waitFor(int64_t durationNs) {
        requested_.sleepWhile(0, durationNs);
        requested_.exchange(0);
    }

  private:
    log::SleepWord requested_;
};

/// Starts a thread that receives no signal of the program. Returns false on failure.
bool startThread(void* (*main)(void*), void* argument);

/// Gives the calling thread its own, empty descriptor table. Program and agent then do not share
/// numbers or limits, and this thread keeps none of the program's files open. If the kernel cannot
/// (before 5.9), the thread shares the program's table, and `LogFile` takes care.
void leaveDescriptorsOfProgram();

}  // namespace lanescope::agent
