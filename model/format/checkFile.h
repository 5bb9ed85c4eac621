// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// The size of a file that can be opened and holds something. Errors: missing, a folder, no regular
/// file, empty.
Result<uint64_t> checkFile(const std::filesystem::path& path);

/// Whether anything has that name, be it a link that leads nowhere; true where nobody can tell.
bool isThere(const std::filesystem::path& path);

}  // namespace lanescope
