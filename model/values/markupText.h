// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// `text` as text or as an attribute in quotes of an HTML page or an SVG picture, whatever it
/// holds: what `printable` makes of it, with markup escaped.
std::string markupEscaped(std::string_view text);

}  // namespace lanescope
