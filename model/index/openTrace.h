// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "model/format/Result.h"
#include "model/format/checksums.h"
#include "model/importers/TraceFormat.h"
#include "model/index/IndexFile.h"
#include "model/trace/Trace.h"

namespace lanescope {

// The key of the user, `index/key` in the cache folder, authenticates the indexes that this user
// wrote. Only this user can read it. Any thread and process.

/// Returns the key; nullopt if none is stored.
std::optional<SipHash::Key> userKey();

/// Returns the key, created if missing. Fails without a cache folder.
Result<SipHash::Key> ensureUserKey();

/// Returns the possible paths of the index of a trace, in the order of search and writing: next to
/// the trace, then in the user's cache folder, if any.
std::vector<std::filesystem::path> indexPaths(const std::filesystem::path& trace);

/// Returns the identity of a file, which its index must match: size, time of change, and a
/// fingerprint of the contents. Returns nullopt if unreadable. O(log n).
std::optional<SourceKey> sourceKeyOf(const std::filesystem::path& trace);

/// Calls `write` with the first possible path of an index: next to a trace of this user, else in the cache. If it fails
/// there, calls it with the next path. Returns the first error if all fail.
Result<void> writeNextTo(const std::filesystem::path& trace,
                         const std::function<Result<void>(const std::filesystem::path& index)>& write);

/// Removes the indexes of a trace with their summaries and returns the number of files. Fails if one cannot be removed.
Result<int> removeIndexes(const std::filesystem::path& trace);

struct OpenOptions {
    /// Smaller files are read each time: that is fast and needs no second file.
    uint64_t minBytes = uint64_t{1} << 20;
    bool mayWrite = true;  ///< Write a missing index.
};

/// Opens a trace through its index. A trace with an index opens at once, whatever its size. A new
/// one is read by `loadTrace`, and its index is written next to it, or into the user's cache folder
/// if the trace's folder is not writable. A stale or corrupt index, or one of another version, is
/// rebuilt. If no index can be written, the trace is in memory and its health has a note. Errors
/// and progress are those of `loadTrace`. A cancellation leaves no files.
Result<TracePtr> openTrace(const std::filesystem::path& path, const OpenOptions& options = {},
                           const LoadProgress& progress = {});

/// Returns true if `openTrace` would find a valid index. As fast as opening by index.
bool hasIndex(const std::filesystem::path& path);

/// Writes the index of a trace unless it exists, and returns its path. Fails if the trace cannot be
/// read or the index not be written.
Result<std::filesystem::path> ensureIndex(const std::filesystem::path& path, const LoadProgress& progress = {});

/// Fails if the trace is from an index and the parts read so far differ from their checksums.
/// Results may then be wrong. Removes the index, so that the next opening reads the trace itself.
Result<void> checkIndex(const Trace& trace);

/// Writes the index of an unchanged trace that was read from `file`, for a later rename of that
/// file to `name`. Fails if no place is writable or if cancelled. Nothing is left then.
Result<void> writeIndexFor(const Trace& trace, const std::filesystem::path& file, const std::filesystem::path& name,
                           const LoadProgress& progress = {});

}  // namespace lanescope
