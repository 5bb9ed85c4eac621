// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include <cstdint>

namespace lanescope::log {

/// Nanoseconds since 1970, the clock of CUPTI's records. About 20 ns a call.
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

}  // namespace lanescope::log
