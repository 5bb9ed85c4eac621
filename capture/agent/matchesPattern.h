#pragma once

#include <string_view>

namespace lanescope::agent {

/// Whether `text` is as `pattern` says, in which '*' stands for any characters and '?' for one.
/// Neither allocates nor recurses: time is at worst the product of the two lengths.
bool matchesPattern(std::string_view pattern, std::string_view text);

}  // namespace lanescope::agent
