// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// How many pieces of GPU work the calls of a thread launched that began in a stretch.
struct ThreadLaunches {
    uint32_t thread = noIndex;
    int64_t count = 0;
    bool operator==(const ThreadLaunches&) const = default;
};

/// Of each thread of the process of `thread` that launched any, that one first, then those with
/// most; on `stream` only, unless it is `noIndex`. Nothing where more than `mostCalls` calls lie in
/// the stretch: too many to count for a look. O(calls in the stretch * log calls).
std::vector<ThreadLaunches> launchesDuring(const Trace& trace, uint32_t thread, TimeRange during,
                                           uint32_t stream = noIndex);
inline constexpr uint32_t mostCallsLookedAt = 200'000;

/// "204 by this thread, 327 by thread 526 meanwhile": NVIDIA's tools count the first alone, and
/// what autograd's thread launches for a range is the second. Empty if nothing was launched.
std::string launchesText(const Trace& trace, uint32_t thread,
                         const std::vector<ThreadLaunches>& launches);

}  // namespace lanescope
