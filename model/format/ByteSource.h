// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "model/format/Result.h"

namespace lanescope {

/// The bytes of a file from first to last: takes as many as fit, fewer at the end only, and then
/// none. Once it fails nothing follows.
using ByteSource = std::function<Result<size_t>(std::span<char>)>;

}  // namespace lanescope
