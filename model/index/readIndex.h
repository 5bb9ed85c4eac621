// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "model/index/IndexFormat.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The trace that an index holds, its columns mapped from the file. Null if there is no index, or
/// none of this version and of the file with `source`, or if it is damaged: then the trace must be
/// read anew. `trace` is where that file lies; what is made of the trace lies in `memory`.
/// O(tracks).
TracePtr readIndex(const std::filesystem::path& path, const SourceKey& source,
                   const std::filesystem::path& trace,
                   std::shared_ptr<LargeMemory> memory = nullptr);

}  // namespace lanescope
