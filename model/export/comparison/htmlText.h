// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope::report {

/// `text` as text or as an attribute in double quotes of an HTML page, whatever it holds: what
/// `printable` makes of it, with markup escaped.
std::string htmlEscaped(std::string_view text);

}  // namespace lanescope::report
