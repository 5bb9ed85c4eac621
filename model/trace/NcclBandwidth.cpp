// SPDX-License-Identifier: Apache-2.0
#include "model/trace/NcclBandwidth.h"

namespace lanescope {

std::optional<NcclTraffic> ncclTraffic(std::string_view operation, int64_t bytes,
                                       int32_t rankCount) {
    if (bytes < 0) return std::nullopt;
    const auto size = static_cast<double>(bytes);
    if (operation == "Broadcast" || operation == "Bcast" || operation == "Reduce" ||
        operation == "Send" || operation == "Recv")
        return NcclTraffic{size, size};
    if (rankCount < 1) return std::nullopt;
    const double ranks = rankCount;
    if (operation == "AllReduce") return NcclTraffic{size, size * 2 * (ranks - 1) / ranks};
    if (operation == "AllGather" || operation == "ReduceScatter" || operation == "AlltoAll" ||
        operation == "AllToAll" || operation == "Gather" || operation == "Scatter")
        return NcclTraffic{size * ranks, size * (ranks - 1)};
    return std::nullopt;
}

std::optional<NcclRate> ncclRate(const Trace& trace, uint32_t row) {
    const NcclFacts& facts = trace.nccl.facts[row];
    if (facts.operationCount == 0 || facts.sharedBy != 1 || facts.gpu.durationNs() <= 0)
        return std::nullopt;
    const auto traffic = ncclTraffic(trace.strings.at(trace.nccl.operation[row]),
                                     trace.nccl.bytes[row], facts.rankCount);
    if (!traffic) return std::nullopt;
    return NcclRate{*traffic, facts.gpu.durationNs()};
}

}  // namespace lanescope
