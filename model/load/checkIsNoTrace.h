// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Fails if an SQLite file, as a trace is, lies at `path`, packed by gzip or not, or a file that
/// cannot be read and so may be one: what is written instead of it, a report or a picture, is made
/// again more easily than a recording. Reads some bytes; blocks for no pipe.
Result<void> checkIsNoTrace(const std::filesystem::path& path);

}  // namespace lanescope
