// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// Bytes that an operation counts for, by the arithmetic of nccl-tests.
struct NcclTraffic {
    double algorithmBytes = 0;  ///< The whole message: over time, the "algbw".
    double busBytes = 0;        ///< What each rank's link carries: over time, the "busbw".
};

/// The traffic of an operation for which a rank passed `bytes` to NCCL. NCCL's bytes are those of
/// one rank (and, for AlltoAll, of one peer) where nccl-tests counts all ranks' together:
/// AllGather, ReduceScatter, AlltoAll, Gather, Scatter. Nothing for unknown operations and, unless
/// the operation does not depend on it, for an unknown number of ranks (below 1).
std::optional<NcclTraffic> ncclTraffic(std::string_view operation, int64_t bytes,
                                       int32_t rankCount);

/// That of row `row` of `trace.nccl` and how long the GPU took; nothing if one of both is not
/// known, or if the GPU did several operations at once.
struct NcclRate {
    NcclTraffic traffic;
    /// On the GPU, without waiting for other ranks where that is known (`NcclFacts::waitedNs`).
    int64_t durationNs = 0;
    double algorithmGBps() const { return traffic.algorithmBytes / double(durationNs); }
    double busGBps() const { return traffic.busBytes / double(durationNs); }
};
std::optional<NcclRate> ncclRate(const Trace& trace, uint32_t row);

}  // namespace lanescope
