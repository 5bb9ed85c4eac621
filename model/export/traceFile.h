// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Checks that a trace can be written under this name, before hours of events are read: the name is free, no trace is
/// being made under it, and it is none of `inputs`, which are being read. The error names the obstacle and the action.
Result<void> checkPlaceForTrace(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs);

/// Writes a trace that was read from files of other tools, or merged from several, as a file of our own, which opens as
/// the same trace. Data that is no event, such as overhead of a profiler, is not written. The file appears when it is
/// complete. Fails as `checkPlaceForTrace` does, if it cannot be written, or if something else has taken its name
/// meanwhile: then it stays next to that as `<path>.partial`. Some million rows per second; blocks.
Result<void> writeTraceFile(const Trace& trace, const std::filesystem::path& path);

/// Writes the same with checksums (`PageSeal.h`), for files that are kept.
Result<void> writeSealedTraceFile(const Trace& trace, const std::filesystem::path& path);

/// Returns true if the trace has events that only SQLite files contain: its source is such a file,
/// and copying that is better than writing one.
bool isOfSqlite(const Trace& trace);

}  // namespace lanescope
