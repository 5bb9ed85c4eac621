// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stop_token>

namespace lanescope {

/// Whether a pass over rows is to end before its time. Asks at few rows only, so that a pass may
/// ask at each. What such a pass made is of no use.
inline bool isStopped(const std::stop_token& stop, size_t row) {
    constexpr size_t rowsPerLook = 4096;
    return row % rowsPerLook == 0 && stop.stop_requested();
}

}  // namespace lanescope
