// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

/// Whether the driver calls a slice of a GPU so: "NVIDIA H200 MIG 1g.18gb".
constexpr bool isMigName(std::string_view gpuName) {
    return gpuName.find(" MIG ") != std::string_view::npos;
}

}  // namespace lanescope
