// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

/// What recorded a trace that is a log of NCCL Inspector.
inline constexpr std::string_view inspectorProducer = "NCCL Inspector";

/// Whether a trace of that producer knows of GPUs only when NCCL's kernels ran: then nobody can say
/// when they did nothing, and why.
constexpr bool knowsOnlyNccl(std::string_view producer) {
    return producer == inspectorProducer;
}

}  // namespace lanescope
