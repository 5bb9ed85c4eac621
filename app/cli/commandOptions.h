// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "model/compare/CompareSelection.h"
#include "model/format/Result.h"
#include "model/merge/mergeTraces.h"
#include "model/trace/Trace.h"

namespace lanescope::cli {

/// `openTrace` with its progress on stderr where that is a terminal and the load takes long enough
/// to wonder. Of a trace that is still being recorded, named as it is until it is whole, what there
/// is of it.
Result<TracePtr> loadForCommand(const std::filesystem::path& path);
/// `ensureIndex` with the same.
Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path);

/// Prints what the trace's health says is lost or doubtful as warnings on stderr.
void reportHealth(const Trace& trace);

/// What CLI11 shows of an error: a sentence without its full stop, to which the caller adds one;
/// nothing if there is none.
template <class T>
std::string checkText(const Result<T>& result) {
    return result ? std::string() : result.error().sentence;
}

/// Adds `--range`, which ranges are the steps. `selection` outlives the parse.
void addStepRange(CLI::App& command, CompareSelection& selection);
/// The same, and `--steps`, which of them are looked at.
void addStepOptions(CLI::App& command, CompareSelection& selection);

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
