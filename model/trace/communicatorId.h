// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace lanescope {

/// What a communicator is called wherever it is shown: "0x02e5d1c8a1b2c3d4".
inline std::string communicatorId(uint64_t hash) {
    return fmt::format("0x{:016x}", hash);
}

}  // namespace lanescope
