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

/// Returns true if a file is compressed other than by gzip, twice by gzip, or is an archive, even if parts of it are
/// readable as they are stored. A tar archive is recognized within gzip, too, as tar unpacks both at once.
bool isKnownArchive(const TraceSource& source);

/// Returns the formats that are recognized but not read: these archives, and files of other tools.
std::span<const TraceFormat> unreadableFormats();

/// JSON of trace events, as written by torch.profiler and `lanescope export`.
extern const TraceFormat chromeFormat;

/// Returns the maximum number of JSON bytes to read. Traces compress 15 to 30 times. The limit for
/// a compressed file is above that, so that the memory depends on its size.
uint64_t maxJsonBytesOf(const TraceSource& source);

/// Logs of NCCL Inspector, NVIDIA's profiler plugin for NCCL, and of AMD's version for RCCL.
extern const TraceFormat inspectorFormat;

/// Traces of the profilers of JAX and TensorFlow.
extern const TraceFormat xplaneFormat;
/// Traces of Perfetto and of programs that write its format, such as torch.profiler.
extern const TraceFormat perfettoFormat;

// SQLite files, distinguished by their tables.

/// Traces of `lanescope record`: the tables of Nsight Systems and further ones.
extern const TraceFormat lanescopeFormat;
/// Exports of `nsys export --type sqlite`.
extern const TraceFormat nsightFormat;
/// Files of nvprof, in which some tables have names of Nsight Systems and other columns.
extern const TraceFormat nvprofFormat;
/// Files of ROCm's rocprofv3 and rocprof-sys.
extern const TraceFormat rocpdFormat;
/// Files of ROCm's RPD.
extern const TraceFormat rpdFormat;
/// Databases of ROCm's rocprof before version 3, and of hipprof.
extern const TraceFormat hipFormat;

/// The report of `nsys profile`, which only `nsys` can read. If `nsys` is in PATH, it exports the
/// report once as SQLite next to it. An existing export that is not older is used as is.
extern const TraceFormat nsightReportFormat;

}  // namespace lanescope
