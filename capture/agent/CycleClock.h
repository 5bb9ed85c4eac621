// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "capture/log/clocks.h"

namespace lanescope::agent {

/// Clock that the program's threads can read at a third of the cost of `log::eventTimeNs`: the
/// processor's counter if it runs evenly, else that time itself. Threads keep the result of `now`.
/// The writer thread converts it to the time of events, using the two nearest readings of both
/// clocks. The clock therefore follows slewing, and its error stays below a microsecond.
class CycleClock {
  public:
    /// Chooses the source of `now` on the first call, and reads both clocks.
    CycleClock();

    /// Returns the current time in ticks. Any thread, once a `CycleClock` exists.
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

    /// Reads both clocks again, unless that happened within the last milliseconds. Writer thread.
    void calibrate();

    /// Returns the time of events, in ns, for ticks that `now` returned. Writer thread, after a
    /// `calibrate` that followed that `now`.
    int64_t eventNs(uint64_t ticks) const {
        if (!countsCycles()) return static_cast<int64_t>(ticks);
        return lastNs_ +
               static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(ticks - lastTicks_)) * nsPerTick_);
    }

  private:
    struct Reading {
        uint64_t ticks;
        int64_t ns;
    };
    static Reading readBoth();

    static bool countsCycles() { return countsCycles_.load(std::memory_order_relaxed); }

    // The first clock sets it; every other clock sets it to the same value.
    static inline constinit std::atomic<bool> countsCycles_{false};
    uint64_t lastTicks_ = 0;
    int64_t lastNs_ = 0;
    double nsPerTick_ = 0;   // 0: not known yet
    double latestRate_ = 0;  // the latest rate, even if rejected
};

}  // namespace lanescope::agent
