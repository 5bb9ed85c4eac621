// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lanescope::capture {

/// What NCCL said about one of its calls. Numbers are NCCL's.
struct NcclCall {
    std::string operation;  ///< "AllReduce"; empty for calls that move nothing, as ncclGroupEnd.
    std::optional<uint64_t> communicator;
    std::optional<int64_t> bytes;
    std::optional<int64_t> reduction, root, peer;
    std::optional<int64_t> rank, rankCount, cudaDevice;  ///< When a communicator is made.

    /// True if the call tells who belongs to a communicator.
    bool describesCommunicator() const { return communicator && rank && rankCount; }
};

/// The name of NCCL's NVTX domain.
inline constexpr std::string_view ncclDomainName = "NCCL";

/// Reads a call from its decoded payload (by the names of NCCL's fields) or, where NCCL registered
/// no layout, from the payload itself as NCCL 2.19 and later lay it out.
NcclCall decodeNcclCall(std::string_view functionName, uint64_t schemaId,
                        std::span<const std::byte> payload,
                        const std::optional<nlohmann::ordered_json>& decoded);

}  // namespace lanescope::capture
