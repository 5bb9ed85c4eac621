// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope::capture {

/// Returns the name as written in the source, with template arguments and parameters, like `c++filt`. Returns the name
/// unchanged if it is not mangled or if its demangled form may be too long.
std::string demangled(const std::string& mangledName);

/// Returns the name of the function alone: without return type, scopes, template arguments and
/// parameters. "void at::native::fill<4, Op>(int)" is "fill".
std::string_view shortFunctionName(std::string_view demangledName);

}  // namespace lanescope::capture
