#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Told how far the load has come: `fraction` in [0, 1] and what is being read. Returns false to
/// cancel. Called on the loading thread, at most some tens of times a second.
using LoadProgress = std::function<bool(double fraction, std::string_view what)>;

/// Opens a Lanescope trace or an `nsys export --type sqlite` file, either as it is or compressed
/// with gzip, whatever it is called, and builds all tables and tracks. What is compressed is
/// unpacked into a nameless temporary file.
/// The file is untrusted: bad cells are skipped and counted in `Trace::health`, never trusted.
/// Errors: not readable, not SQLite, no table of ours or Nsight's in it, not to be unpacked,
/// cancelled; each one sentence. Blocks for the whole read; call it off the GUI thread. Most want
/// `openTrace`, which reads a file only once.
Result<TracePtr> loadTrace(const std::filesystem::path& path, const LoadProgress& progress = {});
/// The same, for who still has something to add to the trace.
/// Uses as many `threads`; 0 for as many as the machine has, four at most. What it makes is the same
/// for any number.
Result<std::shared_ptr<Trace>> readTrace(const std::filesystem::path& path,
                                         const LoadProgress& progress = {}, unsigned threads = 0);

/// `progress`, of which only the part from `from` to `to` is left. `progress` must stay alive.
LoadProgress partOf(const LoadProgress& progress, double from, double to);

/// The same for a file that is open for reading, need not have a name, and is not compressed.
/// Nobody may change it meanwhile. `path` is what errors and the trace call it.
Result<TracePtr> loadOpenTrace(int descriptor, const std::filesystem::path& path,
                               const LoadProgress& progress = {});

}  // namespace lanescope
