#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Looks at a file before SQLite does, for errors that say what is wrong with it: missing, a
/// folder, empty, no SQLite file, cut short. Reads 100 bytes.
Result<void> checkSqliteHeader(const std::filesystem::path& path);

}  // namespace lanescope
