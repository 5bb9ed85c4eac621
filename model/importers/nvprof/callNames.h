// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

/// The function of CUDA's runtime that CUPTI calls by that number: "cudaLaunchKernel" is 211; empty
/// for one that this program does not know.
std::string_view runtimeCallName(int64_t number);
/// The same of the driver: "cuLaunchKernel" is 307.
std::string_view driverCallName(int64_t number);

}  // namespace lanescope
