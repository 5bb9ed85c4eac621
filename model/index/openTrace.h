// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/importers/loadTrace.h"
#include "model/index/IndexFile.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Our folder of that name in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`); it need
/// not exist. Nothing if the user has none.
std::optional<std::filesystem::path> cacheFolder(std::string_view name);

/// Where the index of a trace may lie, in the order to look and to write: beside the trace, then in
/// the user's cache folder, if there is one.
std::vector<std::filesystem::path> indexPaths(const std::filesystem::path& trace);

/// What tells whether an index is of this very file: its size, when it was changed, and a
/// fingerprint of what is in it. Nothing if it cannot be read. O(log n).
std::optional<SourceKey> sourceKeyOf(const std::filesystem::path& trace);

/// Removes the indexes of a trace. Tells how many there were; fails if one stays.
Result<int> removeIndexes(const std::filesystem::path& trace);

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
