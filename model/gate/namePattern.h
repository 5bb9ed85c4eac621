// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope::gate {

/// Whether a condition that names `wanted` means this kernel: by its whole name, the name without
/// parameters, or the base name.
bool namesKernel(std::string_view demangled, std::string_view wanted);

/// Whether the path of NVTX ranges "backward/layer #" lies within the range or ranges `wanted`:
/// whether `wanted` ("layer 3", "backward/layer #") stands in it, number for number sign.
bool liesInRange(std::string_view path, std::string_view wanted);

}  // namespace lanescope::gate
