// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

/// What recorded a trace that is a log of NCCL Inspector.
inline constexpr std::string_view inspectorProducer = "NCCL Inspector";

/// What the health of such a trace says of that.
inline constexpr std::string_view knowsOnlyNcclSentence =
    "Of the GPUs the file knows NCCL's kernels only, to a microsecond, and not which GPU they ran "
    "on: their numbers count the ranks, and what else they did is not known.";

/// Whether a trace of that producer knows of GPUs only when NCCL's kernels ran: then nobody can say
/// when they did nothing, and why.
constexpr bool knowsOnlyNccl(std::string_view producer) {
    return producer == inspectorProducer;
}

}  // namespace lanescope
