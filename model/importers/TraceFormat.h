// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/importers/TraceSource.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// A file format. A new format is a value of this type, listed by name in `TraceFormat.cpp` (see CONTRIBUTING.md).
struct TraceFormat {
    std::string_view identifier;  ///< For programs: "nsight-sqlite".
    std::string_view name;        ///< For users, with its article: "an SQLite export of Nsight Systems".
    /// Usual file name endings, for file dialogs. Recognition uses the contents only.
    std::array<std::string_view, 4> endings;
    /// Returns true if the file has this format. At most one format may return true for a file. Fails if the file
    /// begins like this format but cannot be checked further: corrupt, truncated, still being written.
    Result<bool> (*isRecognized)(TraceSource& source);
    /// Passes the contents of the file to the builder and skips invalid parts. `progress` gets fractions in [0, 1]. The
    /// result is ignored if it returns false. Null for a format that is only recognized.
    Result<void> (*read)(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress);
    /// For an unreadable format: what the user can do, shown after "{file} is {name}".
    std::string_view advice = {};
    /// The format is also read from a gzip file.
    bool readsGzip = true;
};

/// Returns all known formats, in no particular order.
std::span<const TraceFormat* const> traceFormats();

/// Returns the format of the file. Errors: the error of a format that cannot check the file; unknown format.
Result<const TraceFormat*> findFormat(TraceSource& source, std::span<const TraceFormat* const> formats);

/// Fails for a sequential format, which has no SQL tables. The error explains how to import the
/// file as a Lanescope trace. Other files are left to the caller.
Result<void> requireTables(TraceSource& source);

/// Returns "A Lanescope trace, or an SQLite export of Nsight Systems": the readable formats, for help texts.
std::string readableFormats();
/// Returns the same of formats with SQL tables, in which a trace can be queried.
std::string queryableFormats();
/// Returns "*.sqlite *.sqlite.gz ...", for file dialogs.
std::string formatPatterns();

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
