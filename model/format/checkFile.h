// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "model/format/Result.h"

namespace lanescope {

/// What the name of a trace has behind it while it is recorded.
inline constexpr std::string_view unfinishedEnding = ".partial";

/// The size of a file that can be opened and holds something. Errors: missing, still under
/// its unfinished name, a folder, no regular file, empty.
Result<uint64_t> checkFile(const std::filesystem::path& path);

/// Whether anything has that name, be it a link that leads nowhere; true where nobody can tell. Not
/// a name that is too long for anything to have it.
bool isThere(const std::filesystem::path& path);

}  // namespace lanescope
