// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lanescope::log {

/// The names of what lies in a folder, but "." and "..", in no order; none if it cannot be read.
/// Throws std::bad_alloc where the standard library's iterators end the program: no memory for them
/// is no reason to lose a recording.
std::vector<std::string> namesIn(const std::filesystem::path& folder);

}  // namespace lanescope::log
