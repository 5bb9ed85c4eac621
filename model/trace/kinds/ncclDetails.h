// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

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
