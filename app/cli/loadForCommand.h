#pragma once

#include <filesystem>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// `openTrace` with its progress on stderr where that is a terminal and the load takes long enough
/// to wonder.
Result<TracePtr> loadForCommand(const std::filesystem::path& path);
/// `ensureIndex` with the same.
Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path);

/// Makes the index of a trace that was just recorded, if it is large enough to need one, so that it
/// opens at once. Shows progress as above; Ctrl+C leaves it be.
void indexRecorded(const std::filesystem::path& trace);

/// Prints what the trace's health says is lost or doubtful as warnings on stderr.
void reportHealth(const Trace& trace);

}  // namespace lanescope
