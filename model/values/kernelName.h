// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

/// "void gemm<float>" of "void gemm<float>(float*, int)": the rest rarely tells two kernels apart.
/// The name itself if it has no parameters. Linear; points into `demangled`, as the next.
std::string_view withoutParameters(std::string_view demangled);

/// What a kernel is called in its source: "gemm" of "void cutlass::gemm<float, 128>(float*, int)".
/// Return type, namespaces, template arguments and parameters are left out. Linear.
std::string_view kernelBaseName(std::string_view demangled);

}  // namespace lanescope
