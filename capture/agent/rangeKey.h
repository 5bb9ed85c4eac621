// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanescope::agent {

/// Which range a push or its pop belongs to. Bit 63 keeps it apart from the ids of start/end
/// ranges.
inline uint64_t keyOfPush(uint32_t threadId, uint32_t domain, int32_t level) {
    constexpr uint64_t bits16 = 0xffff;
    return (uint64_t{1} << 63) | (uint64_t{threadId & 0x7fffffff} << 32) |
           (std::min<uint64_t>(domain, bits16) << 16) |
           std::min<uint64_t>(static_cast<uint32_t>(level), bits16);
}

}  // namespace lanescope::agent
