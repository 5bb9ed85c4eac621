// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope {

/// Sums modulo 2^64: durations in a damaged file may be any, and theirs must only be harmless.
constexpr int64_t wrappingSum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrappingDifference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace lanescope
