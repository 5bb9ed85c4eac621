// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/merge/mergeTraces.h"

namespace lanescope::cli {

/// What `merge` and `view` take to make one trace of several.
struct MergeWords {
    std::string method = "auto";
    TraceCut cut;

    /// As the model has it.
    MergeOptions options() const;
};

/// `filesMeantBy`; packed files that are left out are said on stderr.
Result<std::vector<std::filesystem::path>> filesToRead(const std::vector<std::string>& words);

/// Adds `--align`, `--ranks` and `--steps`. `words` outlives the parse.
void addMergeOptions(CLI::App& command, MergeWords& words);

/// `openableMerge` with its progress on stderr.
Result<std::filesystem::path> mergeToLookAt(const std::vector<std::filesystem::path>& files,
                                            const MergeWords& words);

}  // namespace lanescope::cli
