// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lanescope {

/// What a call of NCCL moves, for a rank that passed `bytes` to it, by the arithmetic of
/// nccl-tests.
enum class NcclTrafficRule : uint8_t {
    Unknown,          ///< Its sizes say too little.
    Once,             ///< The bytes, over each link once.
    ReduceAndGather,  ///< The bytes; over each link twice all parts but the rank's own.
    PartOfEach,       ///< As many bytes of each rank; over each link all but the rank's own.
};

/// A function of NCCL that moves data.
struct NcclFunction {
    std::string_view operation;  ///< "AllReduce", of "ncclAllReduce".
    NcclTrafficRule traffic = NcclTrafficRule::Unknown;
    bool hasRoot = false;
    bool isOfSends = false;  ///< Done by sends and receives, the only ones its plugin hears of.
    std::string_view alias = {};  ///< What some versions call it.
};

/// The most frequent in training first: the order in which colours are given.
inline constexpr std::array ncclFunctions{
    NcclFunction{"AllReduce", NcclTrafficRule::ReduceAndGather},
    NcclFunction{"AllGather", NcclTrafficRule::PartOfEach},
    NcclFunction{"ReduceScatter", NcclTrafficRule::PartOfEach},
    NcclFunction{"Broadcast", NcclTrafficRule::Once, true, false, "Bcast"},
    NcclFunction{"Send", NcclTrafficRule::Once},
    NcclFunction{"Reduce", NcclTrafficRule::Once, true},
    NcclFunction{"AlltoAll", NcclTrafficRule::PartOfEach, false, true, "AllToAll"},
    NcclFunction{"AlltoAllv", NcclTrafficRule::Unknown, false, true, "AllToAllv"},
    NcclFunction{"Gather", NcclTrafficRule::PartOfEach, true, true},
    NcclFunction{"Scatter", NcclTrafficRule::PartOfEach, true, true},
    NcclFunction{"Recv", NcclTrafficRule::Once},
};

/// The function of that operation, by name or alias; null for one that this program does not know.
constexpr const NcclFunction* findNcclFunction(std::string_view operation) {
    if (operation.empty()) return nullptr;
    for (const NcclFunction& each : ncclFunctions)
        if (each.operation == operation || each.alias == operation) return &each;
    return nullptr;
}

/// One name for each operation, whatever a version calls it: "Broadcast" for "Bcast". Itself if it
/// is not known.
constexpr std::string_view ncclOperationName(std::string_view operation) {
    const NcclFunction* function = findNcclFunction(operation);
    return function == nullptr ? operation : function->operation;
}

/// "AllReduce" for "ncclAllReduce"; empty for what is no communication ("ncclGroupStart").
constexpr std::string_view ncclOperationOf(std::string_view functionName) {
    constexpr std::string_view prefix = "nccl";
    if (!functionName.starts_with(prefix)) return {};
    const NcclFunction* function = findNcclFunction(functionName.substr(prefix.size()));
    return function == nullptr ? std::string_view() : function->operation;
}

}  // namespace lanescope
