// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

/// Whether a mangled name may stand for more than a megabyte, as a name may refer back to parts of
/// itself: one of 250 bytes can stand for gigabytes.
bool mayDemangleLong(std::string_view mangled);

/// What the name of a function means; itself if it is not mangled, and nothing if it may be too
/// long for being demangled here.
std::optional<std::string> demangledName(const std::string& mangled);

}  // namespace lanescope
