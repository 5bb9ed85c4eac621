#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

/// Stores in a trace that was just recorded what a comparison needs to know of it. The trace is
/// copied, and the copy takes its place when it is complete: whatever happens meanwhile, a whole
/// trace of that name is there. Does nothing to large traces: what they cost in memory is better
/// spent where they are looked at. Fails if the disk is full or the trace cannot be read; it is as
/// good as before then.
Result<void> storeSummary(const std::filesystem::path& trace);

}  // namespace lanescope
