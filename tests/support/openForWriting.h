// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Sqlite.h"

namespace lanescope {

/// Opens an existing file for additions, with a journal, so that failures are rolled back.
Result<Database> openForWriting(const std::filesystem::path& path);

}  // namespace lanescope
