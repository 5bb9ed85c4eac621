// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Number of pieces of GPU work launched by calls of a thread that began in an interval.
struct ThreadLaunches {
    uint32_t thread = noIndex;
    int64_t count = 0;
    bool operator==(const ThreadLaunches&) const = default;
};

/// Returns the launches of each thread of the process of `thread`, with `thread` first, then by number; on `stream`
/// only, unless `noIndex`. Empty if the interval has more than `maxScannedCalls` calls, which would take too long to
/// count. O(calls in the interval * log calls).
std::vector<ThreadLaunches> launchesDuring(const Trace& trace, uint32_t thread, TimeRange during,
                                           uint32_t stream = noIndex);
inline constexpr uint32_t maxScannedCalls = 200'000;

/// Returns "204 by this thread, 327 by thread 526 meanwhile"; empty if there are none. NVIDIA's
/// tools count the first only; the second is launched by autograd's thread for the range.
std::string launchesText(const Trace& trace, uint32_t thread, const std::vector<ThreadLaunches>& launches);

/// Returns the row of `trace.nccl` of an NVTX range, or `noIndex`. O(log n).
uint32_t ncclCallOfRange(const Trace& trace, uint32_t nvtx);

/// Thread and time of the launch of an NCCL call.
struct NcclLaunch {
    uint32_t thread = noIndex;
    TimeRange during;
};
/// Returns NCCL's own record of the launch, else the call itself.
NcclLaunch launchOfNcclCall(const Trace& trace, uint32_t row);

/// Returns the row of `trace.nccl` of GPU work, the first if NCCL ran several at once; or
/// `noIndex`. O(log n), and a few thousand earlier calls.
uint32_t ncclCallOfWork(const Trace& trace, EventRef work);

/// Returns the payload of an NVTX range for people, with communicators of NCCL in their display form.
std::string payloadText(const Trace& trace, uint32_t nvtx);

/// Returns the facts of an NCCL call for people.
std::vector<Property> describeNcclCall(const Trace& trace, uint32_t row);

}  // namespace lanescope
