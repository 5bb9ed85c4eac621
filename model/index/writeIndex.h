// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "model/format/Result.h"
#include "model/index/IndexFormat.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes the index of a trace that was made from the file with `source`. It takes the place of
/// whatever `path` names when it is whole, and only then; readers and other writers may work at the
/// same time. `isWanted` is asked now and then; if it says no, nothing is left. O(n).
Result<void> writeIndex(const Trace& trace, const SourceKey& source,
                        const std::filesystem::path& path,
                        const std::function<bool()>& isWanted = {});

}  // namespace lanescope
