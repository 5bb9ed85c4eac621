// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "capture/log/clocks.h"

namespace lanescope::agent {

/// A clock that the program's threads can read for a third of the price of `log::eventTimeNs`: the
/// processor's counter, where it runs evenly, else that time itself. Threads keep what `now`
/// answers; the writer thread turns it into the time of events, with the two readings of both
/// clocks that lie nearest. So a clock that is slewed is followed, and error stays below a
/// microsecond.
class CycleClock {
  public:
    /// Chooses what `now` reads, the first time, and reads both clocks.
    CycleClock();

    /// The moment, in ticks. Any thread, once a `CycleClock` exists.
    static uint64_t now() {
#if defined(__x86_64__)
        if (countsCycles()) [[likely]]
            return __rdtsc();
#elif defined(__aarch64__)
        if (countsCycles()) [[likely]] {
            uint64_t ticks;
            asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
            return ticks;
        }
#endif
        return static_cast<uint64_t>(log::eventTimeNs());
    }

    /// Reads both clocks again, unless that was done within the last milliseconds. Writer thread.
    void calibrate();

    /// The time of events, in nanoseconds, at a moment that `now` answered. Writer thread, after a
    /// `calibrate` that followed the moment.
    int64_t eventNs(uint64_t ticks) const {
        if (!countsCycles()) return static_cast<int64_t>(ticks);
        return lastNs_ +
               static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(ticks - lastTicks_)) *
                                    nsPerTick_);
    }

  private:
    struct Reading {
        uint64_t ticks;
        int64_t ns;
    };
    static Reading readBoth();

    static bool countsCycles() {
        return countsCycles_.load(std::memory_order_relaxed);
    }

    // Whoever makes the first clock sets it; who makes another sets it to the same.
    static inline constinit std::atomic<bool> countsCycles_{false};
    uint64_t lastTicks_ = 0;
    int64_t lastNs_ = 0;
    double nsPerTick_ = 0;   // 0: not known yet
    double latestRate_ = 0;  // whether it was believed or not
};

}  // namespace lanescope::agent
