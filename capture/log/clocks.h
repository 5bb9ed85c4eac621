// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

namespace lanescope::log {

/// Nanoseconds since 1970 on the clock that people and daemons set. About 20 ns a call.
inline int64_t realtimeNs() {
    timespec time;
    ::clock_gettime(CLOCK_REALTIME, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Nanoseconds on the clock that nobody sets.
inline int64_t monotonicNs() {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// CLOCK_REALTIME less CLOCK_MONOTONIC. The one is read between two readings of the other, up to
/// ten times, and the time at which these were nearest to each other counts; the error is at most
/// half of what lay between them. No more is read once that is no longer than `closeEnoughNs`. Any
/// thread, about 0.1 us a time.
inline int64_t realtimeOffsetNs(int64_t closeEnoughNs) {
    constexpr int mostReadings = 10;
    int64_t shortestNs = std::numeric_limits<int64_t>::max(), offsetNs = 0;
    for (int reading = 0; reading < mostReadings && shortestNs > closeEnoughNs; ++reading) {
        const int64_t beforeNs = monotonicNs(), realNs = realtimeNs();
        const int64_t betweenNs = monotonicNs() - beforeNs;
        if (betweenNs >= shortestNs) continue;
        shortestNs = betweenNs;
        offsetNs = realNs - beforeNs - betweenNs / 2;
    }
    return offsetNs;
}

namespace detail {
/// 0: not chosen yet.
inline std::atomic<int64_t> eventOffset{0};
}  // namespace detail

/// What the time of events is ahead of CLOCK_MONOTONIC: CLOCK_REALTIME as it was when this process
/// first asked, or what `setEventOffset` was given. The same for the whole life of the process, and
/// of those forked from it. Any thread; takes no lock.
inline int64_t eventOffsetNs() {
    int64_t offsetNs = detail::eventOffset.load(std::memory_order_relaxed);
    if (offsetNs != 0) [[likely]]
        return offsetNs;
    const int64_t freshNs = realtimeOffsetNs(0);
    // Another thread may have been first.
    return detail::eventOffset.compare_exchange_strong(offsetNs, freshNs) ? freshNs : offsetNs;
}

/// Takes the offset of whoever began the recording, so that all of its processes tell the same
/// time. Before the first event.
inline void setEventOffset(int64_t offsetNs) {
    detail::eventOffset.store(offsetNs, std::memory_order_relaxed);
}

/// The time of events: that of CLOCK_REALTIME, counted on by the clock that nobody sets. So
/// durations are right and order is kept, whatever is done to the clock of the machine. Any thread.
/// About 20 ns a call.
inline int64_t eventTimeNs() {
    return monotonicNs() + eventOffsetNs();
}

/// The time of events in this process, as text for the environment of another: the offset of
/// `eventOffsetNs`, and which CLOCK_MONOTONIC it belongs to. Reads two small files.
std::string eventClockText();

/// Takes the time of events from such a text, so that all processes of a recording tell the same,
/// whatever was done to the clock of the machine between their starts. A text of another boot,
/// machine or time namespace, or none, changes nothing: then this process has an offset of its own.
void takeEventClock(std::string_view text);

}  // namespace lanescope::log
