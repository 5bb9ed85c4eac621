// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

/// Returns the CUDA runtime function with that CUPTI number: 211 is "cudaLaunchKernel". Empty if unknown.
std::string_view runtimeCallName(int64_t number);
/// Returns the driver function with that CUPTI number: 307 is "cuLaunchKernel". Empty if unknown.
std::string_view driverCallName(int64_t number);

}  // namespace lanescope
