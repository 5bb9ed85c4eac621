// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

/// "cudaLaunchKernel" for "cudaLaunchKernel_ptsz_v7000": the name without the version of its entry
/// point. Names like "cuMemAlloc_v2", whose number is part of the API, stay as they are.
std::string_view plainApiName(std::string_view entryPoint);

}  // namespace lanescope
