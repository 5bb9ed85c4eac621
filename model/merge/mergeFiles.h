// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "model/build/LoadProgress.h"
#include "model/format/Result.h"
#include "model/merge/mergeTraces.h"

namespace lanescope {

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
