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

/// The row of `trace.nccl` that an NVTX range is of, or `noIndex`. O(log n).
uint32_t ncclCallOfRange(const Trace& trace, uint32_t nvtx);

/// Where an NCCL call launches its work: on which thread, and when.
struct NcclLaunch {
    uint32_t thread = noIndex;
    TimeRange during;
};
/// As NCCL said, else the call itself.
NcclLaunch launchOfNcclCall(const Trace& trace, uint32_t row);

/// The row of `trace.nccl` that GPU work is of, the first if NCCL did several at once; or
/// `noIndex`. O(log n), and some thousand of the calls before.
uint32_t ncclCallOfWork(const Trace& trace, EventRef work);

/// The payload of an NVTX range, for people: in one of NCCL's communicators are called as
/// elsewhere.
std::string payloadText(const Trace& trace, uint32_t nvtx);

/// What is known of an NCCL call, for people.
std::vector<Property> describeNcclCall(const Trace& trace, uint32_t row);

}  // namespace lanescope
