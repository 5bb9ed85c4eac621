// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/importers/TraceFormat.h"
#include "model/trace/Trace.h"

namespace lanescope {

struct LoadOptions {
    /// Number of threads; 0 for the number of cores, at most four. The trace does not depend on it.
    unsigned threads = 0;
    std::span<const TraceFormat* const> formats = traceFormats();
    /// The memory of the trace. Without it, ordinary memory of the process of any size.
    std::shared_ptr<LargeMemory> memory = nullptr;
};

/// Opens a file of any known format, plain or compressed with gzip, independent of its name, and builds all tables and
/// tracks. The file is untrusted: invalid parts are skipped and counted in `Trace::health`. Errors, one sentence each:
/// not readable, unknown format, corrupt, cancelled. Blocks for the whole read, so call it off the GUI thread. Most
/// callers want `openTrace`, which reads a file only once.
Result<TracePtr> loadTrace(const std::filesystem::path& path, const LoadProgress& progress = {},
                           const LoadOptions& options = {});
/// Returns a finished builder, for callers that add notes.
Result<TraceBuilder> readTrace(const std::filesystem::path& path, const LoadProgress& progress = {},
                               const LoadOptions& options = {});

/// Loads a file from a readable descriptor. The file need not have a name, must not be compressed
/// and must not change meanwhile. `path` names it in errors and in the trace.
Result<TracePtr> loadOpenTrace(int descriptor, const std::filesystem::path& path, const LoadProgress& progress = {});

}  // namespace lanescope
