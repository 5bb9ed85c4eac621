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
    /// How many threads may work on it; 0 for as many as the machine has, four at most. The trace
    /// is the same for any number.
    unsigned threads = 0;
    /// The formats that a file may have.
    std::span<const TraceFormat* const> formats = traceFormats();
    /// Where the trace lies; without one in memory of the process's own, however large it is.
    std::shared_ptr<LargeMemory> memory = nullptr;
};

/// Opens a file of any format that this program knows, either as it is or compressed with gzip,
/// whatever it is called, and builds all tables and tracks.
/// The file is untrusted: what makes no sense is skipped and counted in `Trace::health`, never
/// trusted. Errors: not readable, of no format, damaged, cancelled; each one sentence. Blocks for
/// the whole read; call it off the GUI thread. Most want `openTrace`, which reads a file only once.
Result<TracePtr> loadTrace(const std::filesystem::path& path, const LoadProgress& progress = {},
                           const LoadOptions& options = {});
/// The same, for who still has a note to add: a builder that is finished.
Result<TraceBuilder> readTrace(const std::filesystem::path& path, const LoadProgress& progress = {},
                               const LoadOptions& options = {});

/// The same for a file that is open for reading, need not have a name, and is not compressed.
/// Nobody may change it meanwhile. `path` is what errors and the trace call it.
Result<TracePtr> loadOpenTrace(int descriptor, const std::filesystem::path& path,
                               const LoadProgress& progress = {});

}  // namespace lanescope
