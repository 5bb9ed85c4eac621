// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "model/format/Result.h"
#include "model/index/IndexFormat.h"

namespace lanescope {

/// Where the index of a trace may lie, in the order to look and to write: beside the trace, then in
/// the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`), if there is one.
std::vector<std::filesystem::path> indexPaths(const std::filesystem::path& trace);

/// What tells whether an index is of this very file: its size, when it was changed, and a
/// fingerprint of what is in it. Nothing if it cannot be read. O(log n).
std::optional<SourceKey> sourceKeyOf(const std::filesystem::path& trace);

/// Removes the indexes of a trace. Tells how many there were; fails if one stays.
Result<int> removeIndexes(const std::filesystem::path& trace);

}  // namespace lanescope
