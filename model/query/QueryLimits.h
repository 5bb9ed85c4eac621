// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace lanescope {

/// How much one query may take before it is stopped or cut.
struct QueryLimits {
    std::chrono::milliseconds time{30'000};    ///< Then the query fails.
    int64_t rows = 100'000;                    ///< What comes after is left out, which is said.
    int64_t resultBytes = int64_t{256} << 20;  ///< The same for the size of what is kept.
    int64_t workingBytes = int64_t{1} << 30;   ///< For sorting and grouping; then the query fails.
};

}  // namespace lanescope
