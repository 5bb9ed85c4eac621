// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "capture/log/clocks.h"

namespace lanescope::capture {

/// CLOCK_REALTIME less CLOCK_MONOTONIC. The one is read between two readings of the other, up to
/// ten times, and the time at which these were nearest to each other counts; the error is at most
/// half of what lay between them. No more is read once that is no longer than `closeEnoughNs`. Any
/// thread, about 0.1 us a time.
inline int64_t realtimeOffsetNs(int64_t closeEnoughNs) {
    constexpr int mostReadings = 10;
    int64_t shortestNs = std::numeric_limits<int64_t>::max(), offsetNs = 0;
    for (int reading = 0; reading < mostReadings && shortestNs > closeEnoughNs; ++reading) {
        const int64_t beforeNs = log::monotonicNs(), realNs = log::realtimeNs();
        const int64_t betweenNs = log::monotonicNs() - beforeNs;
        if (betweenNs >= shortestNs) continue;
        shortestNs = betweenNs;
        offsetNs = realNs - beforeNs - betweenNs / 2;
    }
    return offsetNs;
}

/// What the time of samples is ahead of CLOCK_MONOTONIC: the same for the whole life of this
/// process. Any thread.
inline int64_t sampleOffsetNs() {
    static const int64_t offsetNs = realtimeOffsetNs(0);
    return offsetNs;
}

/// The time of samples: CLOCK_REALTIME as it was when this process first asked, counted on from
/// there by the clock that nobody sets. So samples never go back in time, whatever is done to the
/// clock of the machine. Any thread.
inline int64_t sampleTimeNs() {
    return log::monotonicNs() + sampleOffsetNs();
}

/// What CLOCK_REALTIME is ahead of the time of samples now, about 0 until somebody sets it. What
/// was said in CLOCK_REALTIME a moment ago is so much less in the time of samples. Any thread.
inline int64_t realtimeAheadNs() {
    constexpr int64_t closeEnoughNs = 1'000;
    return realtimeOffsetNs(closeEnoughNs) - sampleOffsetNs();
}

/// The time of a value that was asked for at `askedNs` (`sampleTimeNs`) and has come just now: that
/// of the question, but that of the answer where it took so long that the counter may have been
/// said to be unknown in between.
inline int64_t answerTimeNs(int64_t askedNs) {
    constexpr int64_t slowNs = 1'000'000'000;
    const int64_t nowNs = sampleTimeNs();
    return nowNs - askedNs > slowNs ? nowNs : askedNs;
}

}  // namespace lanescope::capture
