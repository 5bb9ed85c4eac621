// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope {

/// Bytes a second that so many lanes of a PCIe generation carry in one direction, after the line
/// code and before the headers of packets; 0 for a generation that is not known, and for a number
/// of lanes that no slot has.
int64_t pcieBytesPerSecond(int generation, int lanes);

}  // namespace lanescope
