// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope::capture {

/// The name as written in the source, with template arguments and parameters: what `c++filt`
/// prints. Returns the name as it is if it is not mangled, or may demangle to a very long text.
std::string demangled(const std::string& mangledName);

/// The name of the function alone: without return type, scopes, template arguments and parameters.
/// "void at::native::fill<4, Op>(int)" is "fill".
std::string_view shortFunctionName(std::string_view demangledName);

}  // namespace lanescope::capture
