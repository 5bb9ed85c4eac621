// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/format/Result.h"
#include "model/merge/mergeTraces.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the trace files that these words denote, in order and each once: a file itself; for a
/// folder all files in it with the name of a trace, by name; for a word with '*' or '?' that is no
/// file, the files that match its last part. Folders and patterns do not include a report of many
/// ranks, nor a packed file (`x.json.gz`) next to the same one unpacked (`x.json`). Such a packed
/// file is added to `twins` if no other word denotes it. Fails if a word denotes no file.
Result<std::vector<std::filesystem::path>> filesMeantBy(std::span<const std::string> words,
                                                        std::vector<std::filesystem::path>* twins = nullptr);

/// Returns true if the traces seem to be ranks of one job: each has ranks, none of them in two,
/// their jobs have the same size, and they were recorded at about the same time, as far as known.
bool seemRanksOfOneJob(std::span<const TracePtr> traces);

/// Writes the content of several trace files, of any format, as one of our own (`mergeTraces`,
/// `writeTraceFile`); lower ranks first. For an excerpt, files of other ranks are not read. Returns
/// the notes of the whole. Fails for fewer than two files, unless to make an excerpt of one, for an
/// unreadable one, as the two functions above do, and if cancelled. Blocks.
Result<std::vector<HealthNote>> mergeFiles(std::span<const std::filesystem::path> files,
                                           const std::filesystem::path& output, const MergeOptions& options = {},
                                           const LoadProgress& progress = {});

/// Returns the path of the merged trace that is kept for viewing these files: in the user's cache folder, by the
/// identity of the files. Nullopt without such a folder, or if a file cannot be read.
std::optional<std::filesystem::path> keptMerge(std::span<const std::filesystem::path> files,
                                               const MergeOptions& options = {});

/// Returns the merged trace for viewing, made if it is not kept. Removes all but the newest few.
/// Fails as `mergeFiles` does, and without a cache folder.
Result<std::filesystem::path> openableMerge(std::span<const std::filesystem::path> files,
                                            const MergeOptions& options = {}, const LoadProgress& progress = {});

}  // namespace lanescope
