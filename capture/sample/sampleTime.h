// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

#include "capture/log/clocks.h"

namespace lanescope::capture {

/// The time of samples, which is that of events: samples never go back in time, whatever is done to
/// the clock of the machine. Any thread.
inline int64_t sampleTimeNs() {
    return log::eventTimeNs();
}

/// What CLOCK_REALTIME is ahead of the time of samples now, about 0 until somebody sets it. What
/// NVML said in CLOCK_REALTIME a moment ago is so much less in the time of samples. Any thread.
inline int64_t realtimeAheadNs() {
    constexpr int64_t closeEnoughNs = 1'000;
    return log::realtimeOffsetNs(closeEnoughNs) - log::eventOffsetNs();
}

/// The time of a value that was asked for at `askedNs` (`sampleTimeNs`) and has come just now: that
/// of the question, but that of the answer where it took so long that the counter may have been
/// said to be unknown in between.
inline int64_t answerTimeNs(int64_t askedNs) {
    constexpr int64_t slowNs = 1'000'000'000;
    const int64_t nowNs = sampleTimeNs();
    return nowNs - askedNs > slowNs ? nowNs : askedNs;
}

/// Processor time that the calling thread has used.
inline int64_t threadCpuNs() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace lanescope::capture
