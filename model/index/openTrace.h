// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Result.h"
#include "model/load/loadTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {

struct OpenOptions {
    /// Files smaller than this are read anew each time: that is quick, and leaves no second file.
    uint64_t leastBytes = uint64_t{1} << 20;
    bool mayWrite = true;  ///< Whether an index is made where there is none.
};

/// Opens a trace by way of its index: a trace that was opened before is there at once however large
/// it is, one that is new is read by `loadTrace` and leaves an index beside it, or in the user's
/// cache folder if the trace's cannot be written to. An index that is stale, damaged or of another
/// version is made anew. Where none can be written, the trace is in memory and its health says so.
/// Errors and progress are those of `loadTrace`; once cancelled nothing is left behind.
Result<TracePtr> openTrace(const std::filesystem::path& path, const OpenOptions& options = {},
                           const LoadProgress& progress = {});

/// Whether `openTrace` would find an index of the trace as it is now, and read nothing else. As
/// quick as opening by it.
bool hasIndex(const std::filesystem::path& path);

/// Makes the index of a trace unless it has one. Fails if the trace cannot be read or its index not
/// be written; else tells where it lies.
Result<std::filesystem::path> ensureIndex(const std::filesystem::path& path,
                                          const LoadProgress& progress = {});

/// Fails if the trace is one by its index, and what was read of that so far differs from its
/// checksums: then what was made of it may be wrong. The index is removed, so that the trace is
/// read anew when it is opened next.
Result<void> checkIndex(const Trace& trace);

/// Writes the index of a trace that was read from `file` and not changed since, for the time when
/// that file will be called `name`. Fails if it can be written nowhere, or cancelled; nothing is
/// left then.
Result<void> writeIndexFor(const Trace& trace, const std::filesystem::path& file,
                           const std::filesystem::path& name, const LoadProgress& progress = {});

}  // namespace lanescope
