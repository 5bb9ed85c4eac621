// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace lanescope {

/// The value of an environment variable; empty if it is not set. Any thread, as long as nobody sets
/// variables meanwhile.
inline std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

}  // namespace lanescope
