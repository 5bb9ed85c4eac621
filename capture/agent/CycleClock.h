// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "capture/log/clocks.h"

namespace lanescope::agent {

/// A clock that the program's threads can read for a third of the price of CLOCK_REALTIME: the
/// processor's counter, where it runs evenly, else CLOCK_REALTIME itself. Threads keep what `now`
/// answers; the writer thread turns it into CLOCK_REALTIME, with the two readings of both clocks
/// that lie nearest. So a clock that is slewed is followed, and error stays below a microsecond.
class CycleClock {
  public:
    /// Chooses what `now` reads, the first time, and reads both clocks.
    CycleClock();

    /// The moment, in ticks. Any thread, once a `CycleClock` exists.
    static uint64_t now() {
#if defined(__x86_64__)
        if (countsCycles_) [[likely]]
            return __rdtsc();
#elif defined(__aarch64__)
        if (countsCycles_) [[likely]] {
            uint64_t ticks;
            asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
            return ticks;
        }
#endif
        return static_cast<uint64_t>(log::realtimeNs());
    }

    /// Reads both clocks again, unless that was done within the last milliseconds. Writer thread.
    void calibrate();

    /// CLOCK_REALTIME, in nanoseconds, at a moment that `now` answered. Writer thread, after a
    /// `calibrate` that followed the moment.
    int64_t realtimeNs(uint64_t ticks) const {
        if (!countsCycles_) return static_cast<int64_t>(ticks);
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

    static bool countsCycles_;  // set before any thread reads it, and never changed after
    uint64_t lastTicks_ = 0;
    int64_t lastNs_ = 0;
    double nsPerTick_ = 0;   // 0: not known yet
    double latestRate_ = 0;  // whether it was believed or not
};

}  // namespace lanescope::agent
