// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <mutex>

#include "capture/log/clocks.h"

namespace lanescope::log {

/// Condition variable whose waits end in time even if the system time is set meanwhile. C++
/// libraries guarantee that only if built for glibc 2.30 or newer. Any thread.
class MonotonicCondition {
  public:
    MonotonicCondition() {
        pthread_condattr_t attributes;
        ::pthread_condattr_init(&attributes);
        ::pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        ::pthread_cond_init(&condition_, &attributes);
        ::pthread_condattr_destroy(&attributes);
    }
    MonotonicCondition(const MonotonicCondition&) = delete;
    MonotonicCondition& operator=(const MonotonicCondition&) = delete;
    ~MonotonicCondition() { ::pthread_cond_destroy(&condition_); }

    void notify_all() { ::pthread_cond_broadcast(&condition_); }

    /// Waits until `holds()`, called with the lock held, or until the timeout. Returns the last result of `holds()`.
    template <typename Predicate>
    bool wait_for(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds time, Predicate holds) {
        constexpr int64_t second = 1'000'000'000;
        const int64_t untilNs = monotonicNs() + time.count();
        const timespec until{untilNs / second, untilNs % second};
        while (!holds()) {
            if (::pthread_cond_timedwait(&condition_, lock.mutex()->native_handle(), &until) == ETIMEDOUT)
                return holds();
        }
        return true;
    }

  private:
    pthread_cond_t condition_;
};

}  // namespace lanescope::log
