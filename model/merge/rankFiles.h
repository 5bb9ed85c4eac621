// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/format/Result.h"
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

}  // namespace lanescope
