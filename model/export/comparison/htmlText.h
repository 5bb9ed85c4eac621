#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// `text` as text or as an attribute in double quotes of an HTML page, whatever it holds: markup is
/// escaped, control characters become spaces, and bytes that are not UTF-8 and characters that turn
/// the direction of writing become U+FFFD, since they could make a name look like another.
std::string htmlEscaped(std::string_view text);

}  // namespace lanescope
