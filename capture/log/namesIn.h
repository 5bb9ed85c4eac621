// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lanescope::log {

/// Returns the names in a folder except "." and "..", unordered; empty if it cannot be read. Throws std::bad_alloc,
/// where the standard library's iterators would terminate the program: lack of memory must not lose a recording.
std::vector<std::string> namesIn(const std::filesystem::path& folder);

}  // namespace lanescope::log
