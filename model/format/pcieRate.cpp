// SPDX-License-Identifier: Apache-2.0
#include "model/format/pcieRate.h"

#include <array>
#include <cmath>

namespace lanescope {

namespace {

constexpr int mostLanes = 32;

/// Bytes a second of one lane, by generation from 1 on: 8b/10b, from the third 128b/130b, in the
/// sixth 242 of 256 bytes of a flit.
constexpr std::array<double, 6> bytesPerLane{2.5e9 * 8 / 10 / 8,   5e9 * 8 / 10 / 8,
                                             8e9 * 128 / 130 / 8,  16e9 * 128 / 130 / 8,
                                             32e9 * 128 / 130 / 8, 64e9 * 242 / 256 / 8};

}  // namespace

int64_t pcieBytesPerSecond(int generation, int lanes) {
    if (generation < 1 || generation > static_cast<int>(bytesPerLane.size()) || lanes < 1 ||
        lanes > mostLanes)
        return 0;
    return std::llround(bytesPerLane[static_cast<size_t>(generation) - 1] * lanes);
}

}  // namespace lanescope
