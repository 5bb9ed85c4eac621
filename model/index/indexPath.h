// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/index/IndexFormat.h"

namespace lanescope {

/// Our folder of that name in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`); it need
/// not exist. Nothing if the user has none.
std::optional<std::filesystem::path> cacheFolder(std::string_view name);

/// Where the index of a trace may lie, in the order to look and to write: beside the trace, then in
/// the user's cache folder, if there is one.
std::vector<std::filesystem::path> indexPaths(const std::filesystem::path& trace);

/// What tells whether an index is of this very file: its size, when it was changed, and a
/// fingerprint of what is in it. Nothing if it cannot be read. O(log n).
std::optional<SourceKey> sourceKeyOf(const std::filesystem::path& trace);

/// Removes the indexes of a trace. Tells how many there were; fails if one stays.
Result<int> removeIndexes(const std::filesystem::path& trace);

}  // namespace lanescope
