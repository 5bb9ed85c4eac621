// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/CycleClock.h"

#include <fcntl.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>

#include "model/format/UniqueFd.h"
#endif

namespace lanescope::agent {

namespace {

constexpr int64_t minSpanNs = 2'000'000;  // exact to 1e-4 even with a late reading
constexpr double maxSlew = 1e-3;          // twice the maximum of NTP; a larger value is no slew
constexpr int readings = 5;

/// Returns true if the kernel has found the processor's counters unfit for timekeeping.
bool kernelDistrustsCycles() {
    char name[32] = {};
    const UniqueFd file(
        ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC));
    if (file < 0 || readAll(file, name, sizeof name - 1) == 0) return false;
    for (const char* slow : {"hpet", "acpi_pm", "jiffies", "refined-jiffies"})
        if (std::strncmp(name, slow, std::strlen(slow)) == 0) return true;
    return false;
}

bool cyclesRunEvenly() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned powerManagement = 0x80000007, invariantCounter = 1u << 8;
    return ::__get_cpuid(powerManagement, &a, &b, &c, &d) && (d & invariantCounter) && !kernelDistrustsCycles();
#elif defined(__aarch64__)
    return true;  // guaranteed by the architecture
#else
    return false;
#endif
}

}  // namespace

CycleClock::CycleClock() {
    countsCycles_.store(cyclesRunEvenly(), std::memory_order_relaxed);
    const Reading first = readBoth();
    lastTicks_ = first.ticks;
    lastNs_ = first.ns;
}

CycleClock::Reading CycleClock::readBoth() {
    Reading best{};
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < readings; ++i) {
        const uint64_t before = now();
        const int64_t ns = log::eventTimeNs();
        const uint64_t after = now();
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        best = {before + narrowest / 2, ns};
    }
    return best;
}

void CycleClock::calibrate() {
    if (!countsCycles()) return;
    Reading reading = readBoth();
    // Waits until the first rate can be computed.
    while (nsPerTick_ == 0 && reading.ns - lastNs_ < minSpanNs && reading.ns >= lastNs_) {
        const timespec pause{0, minSpanNs / 2};
        ::nanosleep(&pause, nullptr);
        reading = readBoth();
    }
    const bool isDue = std::llabs(reading.ns - lastNs_) >= minSpanNs;
    if (!isDue || reading.ticks == lastTicks_) return;
    const double rate = static_cast<double>(reading.ns - lastNs_) / static_cast<double>(reading.ticks - lastTicks_);
    // A rate that occurs twice is right, even if the first reading was made while the clock was set
    // or the program migrated to another machine.
    const auto isNear = [rate](double other) { return std::abs(rate - other) < maxSlew * other; };
    if (rate > 0 && (nsPerTick_ == 0 || isNear(nsPerTick_) || isNear(latestRate_))) nsPerTick_ = rate;
    latestRate_ = rate;
    lastTicks_ = reading.ticks;
    lastNs_ = reading.ns;
}

}  // namespace lanescope::agent
