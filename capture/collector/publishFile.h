#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Brings `unfinished` to disk and gives it the name `target` in one step. Unless `overwrite`, an
/// existing `target` is left alone and the call fails; `unfinished` then keeps its name.
Result<void> publishFile(const std::filesystem::path& unfinished,
                         const std::filesystem::path& target, bool overwrite);

}  // namespace lanescope
