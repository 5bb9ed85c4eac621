// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lanescope {

/// Traffic of an NCCL call for a rank that passed `bytes`, by the formulas of nccl-tests.
enum class NcclTrafficRule : uint8_t {
    Unknown,          ///< Its sizes do not determine the traffic.
    Once,             ///< The bytes, over each link once.
    ReduceAndGather,  ///< The bytes, over each link twice without the rank's own part.
    PartOfEach,       ///< The bytes of each rank, over each link without the rank's own.
};

/// Rank of a collective with a part of its own.
enum class NcclRoot : uint8_t { None, Sends, Receives };

/// NCCL function that moves data.
struct NcclFunction {
    std::string_view operation;  ///< Name without prefix, such as "AllReduce" of "ncclAllReduce".
    NcclTrafficRule traffic = NcclTrafficRule::Unknown;
    NcclRoot root = NcclRoot::None;
    bool isOfSends = false;       ///< Implemented by sends and receives, so the profiler plugin reports only those.
    std::string_view alias = {};  ///< Name in some versions.
};

/// Most frequent in training first; colours are assigned in this order.
inline constexpr std::array ncclFunctions{
    NcclFunction{"AllReduce", NcclTrafficRule::ReduceAndGather},
    NcclFunction{"AllGather", NcclTrafficRule::PartOfEach},
    NcclFunction{"ReduceScatter", NcclTrafficRule::PartOfEach},
    NcclFunction{"Broadcast", NcclTrafficRule::Once, NcclRoot::Sends, false, "Bcast"},
    NcclFunction{"Send", NcclTrafficRule::Once},
    NcclFunction{"Reduce", NcclTrafficRule::Once, NcclRoot::Receives},
    NcclFunction{"AlltoAll", NcclTrafficRule::PartOfEach, NcclRoot::None, true, "AllToAll"},
    NcclFunction{"AlltoAllv", NcclTrafficRule::Unknown, NcclRoot::None, true, "AllToAllv"},
    NcclFunction{"Gather", NcclTrafficRule::PartOfEach, NcclRoot::Receives, true},
    NcclFunction{"Scatter", NcclTrafficRule::PartOfEach, NcclRoot::Sends, true},
    NcclFunction{"Recv", NcclTrafficRule::Once},
};

/// Returns the function of that operation, by name or alias; null if unknown.
constexpr const NcclFunction* findNcclFunction(std::string_view operation) {
    if (operation.empty()) return nullptr;
    for (const NcclFunction& each : ncclFunctions)
        if (each.operation == operation || each.alias == operation) return &each;
    return nullptr;
}

/// Returns the canonical name of an operation, such as "Broadcast" for "Bcast". Unknown names are returned unchanged.
constexpr std::string_view ncclOperationName(std::string_view operation) {
    const NcclFunction* function = findNcclFunction(operation);
    return function == nullptr ? operation : function->operation;
}

/// Returns "AllReduce" for "ncclAllReduce"; empty if the function is no communication ("ncclGroupStart").
constexpr std::string_view ncclOperationOf(std::string_view functionName) {
    constexpr std::string_view prefix = "nccl";
    if (!functionName.starts_with(prefix)) return {};
    const NcclFunction* function = findNcclFunction(functionName.substr(prefix.size()));
    return function == nullptr ? std::string_view() : function->operation;
}

}  // namespace lanescope
