// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// What is left of the name of a GEMM or a convolution of cuBLAS, cuDNN, CUTLASS, Tensile and
/// MIOpen if only operation, type, layout and tile are told; empty for any other name. Linear.
std::string libraryKernelName(std::string_view demangled);

}  // namespace lanescope
