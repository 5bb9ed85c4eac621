// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "capture/log/clocks.h"

namespace lanescope::log {

/// Number on which threads sleep until it changes or a time has passed. Neither changes of the system time nor
/// preloaded libraries that replace the clocks of the C library affect it. Any thread.
class SleepWord {
  public:
    uint32_t value() const { return value_.load(std::memory_order_acquire); }
    uint32_t exchange(uint32_t value) { return value_.exchange(value); }
    void increment() { value_.fetch_add(1, std::memory_order_release); }
    /// Wakes up to `count` sleepers. Safe in a signal handler that preserves errno.
    void wake(int count) { call(FUTEX_WAKE_PRIVATE, static_cast<uint32_t>(count), nullptr); }
    /// Sleeps while the number is `value`, for at most `durationNs`. May return early.
    void sleepWhile(uint32_t value, int64_t durationNs) {
        constexpr int64_t second = 1'000'000'000;
        const timespec time{durationNs / second, durationNs % second};
        call(FUTEX_WAIT_PRIVATE, value, &time);
    }

  private:
    void call(int operation, uint32_t value, const timespec* time) {
        ::syscall(SYS_futex, &value_, operation, value, time, nullptr, 0);
    }

    std::atomic<uint32_t> value_{0};
    static_assert(sizeof value_ == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
};

/// Condition variable whose waits end in time even if the system time is set meanwhile. C++
/// libraries guarantee that only if built for glibc 2.30 or newer. Any thread.
class MonotonicCondition {
  public:
    void notify_all() {
        changes_.increment();
        changes_.wake(INT32_MAX);
    }

    /// Waits until `holds()`, called with the lock held, or until the timeout. Returns the last result of `holds()`.
    bool wait_for(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds time, auto holds) {
        const int64_t untilNs = monotonicNs() + time.count();
        while (!holds()) {
            const int64_t leftNs = untilNs - monotonicNs();
            if (leftNs <= 0) return false;
            // Read under the lock, so that a change after `holds` ends the sleep.
            const uint32_t seen = changes_.value();
            lock.unlock();
            changes_.sleepWhile(seen, leftNs);
            lock.lock();
        }
        return true;
    }

  private:
    SleepWord changes_;
};

}  // namespace lanescope::log
