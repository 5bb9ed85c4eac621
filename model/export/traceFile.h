// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Whether a trace could get this name, so that nobody reads hours of events first: nothing has it
/// or is being made under it, and it is none of `inputs`, which are being read. Says what is in the
/// way and what to do.
Result<void> checkPlaceForTrace(const std::filesystem::path& path,
                                std::span<const std::filesystem::path> inputs);

/// Writes a trace that was read from files of other tools, or merged of several, as a file of our
/// own, which opens as the same trace. What no event is made of, such as overhead of a profiler, is
/// not written. The file appears when it is whole. Errors: those of `checkPlaceForTrace`, it cannot
/// be written, or something else has taken its name when it is whole: then it stays beside that as
/// `<path>.partial`. Some million rows a second; blocks.
Result<void> writeTraceFile(const Trace& trace, const std::filesystem::path& path);

/// The same with checksums (`PageSeal.h`), for whoever keeps it.
Result<void> writeSealedTraceFile(const Trace& trace, const std::filesystem::path& path);

/// Whether the trace has events that only SQLite files have: then it comes from one, and who wants
/// a file of it had better copy that.
bool isOfSqlite(const Trace& trace);

}  // namespace lanescope
