#pragma once

#include <filesystem>

#include "model/index/IndexFormat.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The trace that an index holds, its columns mapped from the file. Null if there is no index, or
/// none of this version and of the file with `source`, or if it is damaged: then the trace must be
/// read anew. `path` and `title` are left to the caller. O(tracks).
std::shared_ptr<Trace> readIndex(const std::filesystem::path& path, const SourceKey& source);

}  // namespace lanescope
