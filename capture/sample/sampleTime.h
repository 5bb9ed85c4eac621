// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/log/clocks.h"

namespace lanescope::capture {

/// Returns the time of samples, which is that of events: samples never go back in time, even if the
/// system time is set. Any thread.
inline int64_t sampleTimeNs() { return log::eventTimeNs(); }

/// Returns CLOCK_REALTIME minus the time of samples, about 0 until the system time is set. Subtract
/// it from a recent CLOCK_REALTIME of NVML to get the time of samples. Any thread.
inline int64_t realtimeAheadNs() {
    constexpr int64_t closeEnoughNs = 1'000;
    return log::realtimeOffsetNs(closeEnoughNs) - log::eventOffsetNs();
}

/// Returns the time of a value that was queried at `askedNs` (`sampleTimeNs`) and has just arrived. This is the query's
/// time, or the answer's if the call took so long that the counter may have been marked unknown meanwhile.
inline int64_t answerTimeNs(int64_t askedNs) {
    constexpr int64_t slowNs = 1'000'000'000;
    const int64_t nowNs = sampleTimeNs();
    return nowNs - askedNs > slowNs ? nowNs : askedNs;
}

}  // namespace lanescope::capture
