// SPDX-License-Identifier: Apache-2.0
#include "model/trace/NcclBandwidth.h"

#include "model/format/ncclFunctions.h"

namespace lanescope {

std::optional<NcclTraffic> ncclTraffic(std::string_view operation, int64_t bytes,
                                       int32_t rankCount) {
    const NcclFunction* function = findNcclFunction(operation);
    if (bytes < 0 || function == nullptr) return std::nullopt;
    const auto size = static_cast<double>(bytes);
    const double ranks = rankCount;
    switch (function->traffic) {
        case NcclTrafficRule::Once:
            return NcclTraffic{size, size};
        case NcclTrafficRule::ReduceAndGather:
            if (rankCount < 1) return std::nullopt;
            return NcclTraffic{size, size * 2 * (ranks - 1) / ranks};
        case NcclTrafficRule::PartOfEach:
            if (rankCount < 1) return std::nullopt;
            return NcclTraffic{size * ranks, size * (ranks - 1)};
        case NcclTrafficRule::Unknown:
            return std::nullopt;
    }
    return std::nullopt;
}

std::optional<NcclRate> ncclRate(const Trace& trace, uint32_t row) {
    const NcclFacts& facts = trace.nccl.facts[row];
    if (facts.operationCount == 0 || facts.sharedBy != 1 || facts.moving().isEmpty())
        return std::nullopt;
    const auto traffic = ncclTraffic(trace.strings.at(trace.nccl.operation[row]),
                                     trace.nccl.bytes[row], facts.rankCount);
    if (!traffic) return std::nullopt;
    return NcclRate{*traffic, facts.moving().durationNs()};
}

}  // namespace lanescope
