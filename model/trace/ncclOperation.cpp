// SPDX-License-Identifier: Apache-2.0
#include "model/trace/ncclOperation.h"

#include <algorithm>
#include <array>

namespace lanescope {

std::string_view ncclOperation(std::string_view rangeName) {
    static constexpr std::array<std::string_view, 11> operations{
        "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Bcast",  "Reduce",
        "Send",      "Recv",      "AlltoAll",      "Gather",    "Scatter"};
    if (!rangeName.starts_with("nccl")) return {};
    const std::string_view name = rangeName.substr(4);
    return std::find(operations.begin(), operations.end(), name) != operations.end()
               ? name
               : std::string_view();
}

}  // namespace lanescope
