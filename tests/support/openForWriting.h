// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Sqlite.h"

namespace lanescope {

/// Opens an existing file to add to it, with a journal, so that what fails is taken back.
Result<Database> openForWriting(const std::filesystem::path& path);

}  // namespace lanescope
