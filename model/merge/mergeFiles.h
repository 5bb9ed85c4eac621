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

/// The trace files that somebody means by these words, in their order and each once: a file itself;
/// of a folder all files in it that are called as traces are, by name; of a word with '*' or '?'
/// that is no file, the files that its last part fits. Of a folder or such a word a report of many
/// ranks is not meant, nor a packed file (`x.json.gz`) beside the same one unpacked (`x.json`),
/// which is added to `twins` if there is one and no other word means it. Fails if a word means no
/// file.
Result<std::vector<std::filesystem::path>> filesMeantBy(
    std::span<const std::string> words, std::vector<std::filesystem::path>* twins = nullptr);

/// Whether the traces seem to be ranks of one job: each has ranks, none of them in two, their jobs
/// are as large, and they were recorded at about the same time, as far as they say.
bool seemRanksOfOneJob(std::span<const TracePtr> traces);

/// Writes what several trace files hold, of any format, as one of our own (`mergeTraces`,
/// `writeTraceFile`); those of lower ranks first. Of a cut, files that are of other ranks are not
/// read. The notes of the whole are the answer. Errors:
/// fewer than two files, unless it is to cut one, one that cannot be read, those of the two above,
/// cancelled. Blocks.
Result<std::vector<HealthNote>> mergeFiles(std::span<const std::filesystem::path> files,
                                           const std::filesystem::path& output,
                                           const MergeOptions& options = {},
                                           const LoadProgress& progress = {});

/// Where the merged trace of these files is kept for whoever only wants to look at it: in the
/// user's cache folder, by what the files are. Nothing without such a folder, or if a file cannot
/// be read.
std::optional<std::filesystem::path> keptMerge(std::span<const std::filesystem::path> files,
                                               const MergeOptions& options = {});

/// The merged trace of the files for looking at: made if it is not kept. Older ones than the newest
/// few are removed. Errors are those of `mergeFiles`, and that there is no cache folder.
Result<std::filesystem::path> openableMerge(std::span<const std::filesystem::path> files,
                                            const MergeOptions& options = {},
                                            const LoadProgress& progress = {});

}  // namespace lanescope
