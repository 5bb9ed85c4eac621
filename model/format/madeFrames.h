// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

// Frames of Python stacks that are no function's: they have no file.

/// Outermost, in place of those that are left out.
inline constexpr std::string_view cutFrame = "(frames further out are left out)";
/// Innermost, while the interpreter collects garbage.
inline constexpr std::string_view collectingFrame = "(garbage collection)";

}  // namespace lanescope
