// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

namespace lanescope::log {

namespace detail {
using ClockReader = int (*)(clockid_t, timespec*);
/// Finds the kernel's own clock function, stores it in `clockReader` and calls it.
int findClockReader(clockid_t clock, timespec* time);
/// Clock function of the kernel, not the C library's, which a preloaded library such as libfaketime may replace.
inline constinit std::atomic<ClockReader> clockReader{&findClockReader};

inline int64_t clockNs(clockid_t clock) {
    timespec time{};
    clockReader.load(std::memory_order_relaxed)(clock, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}
}  // namespace detail

/// Returns the kernel's CLOCK_REALTIME, in ns since 1970, which people and daemons may set. About 20 ns per call.
inline int64_t realtimeNs() { return detail::clockNs(CLOCK_REALTIME); }

/// Returns the kernel's CLOCK_MONOTONIC in ns, which is never set.
inline int64_t monotonicNs() { return detail::clockNs(CLOCK_MONOTONIC); }

/// Returns the processor time, in ns, of the calling thread.
inline int64_t threadCpuNs() { return detail::clockNs(CLOCK_THREAD_CPUTIME_ID); }

/// Returns that of all threads of this process.
inline int64_t processCpuNs() { return detail::clockNs(CLOCK_PROCESS_CPUTIME_ID); }

/// Readings of both clocks at one time, apart from an error of at most half of `distanceNs`.
struct ClockPair {
    int64_t monotonicNs = 0, offsetNs = 0;  ///< The offset is CLOCK_REALTIME minus CLOCK_MONOTONIC.
    int64_t distanceNs = std::numeric_limits<int64_t>::max();
};

/// Reads one clock between two readings of the other, up to ten times, and returns the closest pair of readings. Stops
/// once their distance is at most `closeEnoughNs`. Any thread, about 0.1 us per reading.
inline ClockPair readClocks(int64_t closeEnoughNs) {
    constexpr int maxReadings = 10;
    ClockPair closest;
    for (int reading = 0; reading < maxReadings && closest.distanceNs > closeEnoughNs; ++reading) {
        const int64_t beforeNs = monotonicNs(), realNs = realtimeNs();
        const int64_t distanceNs = monotonicNs() - beforeNs;
        if (distanceNs < closest.distanceNs)
            closest = {beforeNs + distanceNs / 2, realNs - beforeNs - distanceNs / 2, distanceNs};
    }
    return closest;
}

/// Returns CLOCK_REALTIME minus CLOCK_MONOTONIC, in ns, as `readClocks` does.
inline int64_t realtimeOffsetNs(int64_t closeEnoughNs) { return readClocks(closeEnoughNs).offsetNs; }

namespace detail {
/// 0: not chosen yet.
inline std::atomic<int64_t> eventOffset{0};
}  // namespace detail

/// Returns the offset of the time of events from CLOCK_MONOTONIC: that of CLOCK_REALTIME at the
/// first call in this process, or the argument of `setEventOffset`. Constant for the life of the
/// process and of its forked children. Any thread; takes no lock.
inline int64_t eventOffsetNs() {
    int64_t offsetNs = detail::eventOffset.load(std::memory_order_relaxed);
    if (offsetNs != 0) [[likely]]
        return offsetNs;
    const int64_t freshNs = realtimeOffsetNs(0);
    return detail::eventOffset.compare_exchange_strong(offsetNs, freshNs) ? freshNs : offsetNs;
}

/// Sets the offset to that of the recorder, so that all processes of a recording share one time.
/// Before the first event.
inline void setEventOffset(int64_t offsetNs) { detail::eventOffset.store(offsetNs, std::memory_order_relaxed); }

/// Returns the time of events, in ns: CLOCK_REALTIME, continued by CLOCK_MONOTONIC. Durations and
/// order are therefore right, even if the system time is set. Any thread. About 20 ns per call.
inline int64_t eventTimeNs() { return monotonicNs() + eventOffsetNs(); }

/// Returns the time of events of this process as text for the environment of another process: the
/// offset of `eventOffsetNs` and an identification of its CLOCK_MONOTONIC. Reads two small files.
std::string eventClockText();

/// Sets the time of events from such a text, so that all processes of a recording share one time
/// even if the system time is set between their starts. Ignores texts that are empty or of another
/// boot, machine or time namespace. This process then has an offset of its own.
void setEventClock(std::string_view text);

}  // namespace lanescope::log
