// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace lanescope::agent {

/// Lets one thread sleep until it is asked for or its time is over, whatever happens to the time of
/// day: a semaphore can be waited for like that since glibc 2.30 only. No eventfd, because a
/// program may close every descriptor that it does not know.
class WakeUp {
  public:
    /// Any thread, and a signal handler that keeps errno. Asking twice before the sleeper looks is
    /// asking once.
    void ask() {
        if (asked_.exchange(1) == 0) futex(FUTEX_WAKE_PRIVATE, 1, nullptr);
    }

    /// Returns at once if it was asked for since the last call. May return early.
    void waitFor(int64_t durationNs) {
        constexpr int64_t second = 1'000'000'000;
        const timespec time{durationNs / second, durationNs % second};
        futex(FUTEX_WAIT_PRIVATE, 0, &time);
        asked_.exchange(0);
    }

  private:
    void futex(int operation, uint32_t value, const timespec* time) {
        ::syscall(SYS_futex, &asked_, operation, value, time, nullptr, 0);
    }

    std::atomic<uint32_t> asked_{0};
    static_assert(sizeof asked_ == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
};

/// Starts a thread that no signal of the program is delivered to. False if there can be none.
bool startThread(void* (*main)(void*), void* argument);

/// Gives the calling thread descriptors of its own, none to begin with. So whatever the program
/// does with its numbers concerns none of ours, nor its limit, and none of ours is seen by it. What
/// it has open is not held open by this thread. Where the kernel cannot (before 5.9), we share the
/// program's, and `LogFile` takes care.
void leaveDescriptorsOfProgram();

}  // namespace lanescope::agent
