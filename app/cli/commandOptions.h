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

/// Calls `openTrace`, with progress on stderr if that is a terminal and the load takes long. For an
/// unfinished recording, found by its final name, loads the part that exists.
Result<TracePtr> loadForCommand(const std::filesystem::path& path);
/// Calls `ensureIndex` with the same progress.
Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path);

/// Prints the warnings and errors in the trace's health notes as warnings on stderr.
void reportTraceWarnings(const Trace& trace);

/// Returns CLI11's error text: a sentence without its full stop, which CLI11 adds; empty if there is none.
template <class T>
std::string checkText(const Result<T>& result) {
    return result ? std::string() : result.error().sentence;
}

/// Adds `--format`, one of these words.
void addFormat(CLI::App& command, std::string& format, const std::vector<std::string>& words);
/// Adds `--output`, a file; stdout if `path` stays empty.
void addOutputFile(CLI::App& command, std::string& path);

/// Adds `--range`, which selects the ranges that are steps. `selection` outlives the parse.
void addStepRange(CLI::App& command, CompareSelection& selection);
/// Adds the same and `--steps`, which selects steps.
void addStepOptions(CLI::App& command, CompareSelection& selection);

/// The options of `merge` and `view` for merging traces.
struct MergeArguments {
    std::string method = "auto";
    TraceExcerpt cut;

    /// Converts to the model's options.
    MergeOptions options() const;
};

/// Calls `filesMeantBy`; reports skipped packed files on stderr.
Result<std::vector<std::filesystem::path>> filesToRead(const std::vector<std::string>& words);

/// Adds `--align`, `--ranks` and `--steps`. `words` outlives the parse.
void addMergeOptions(CLI::App& command, MergeArguments& words);

/// Calls `openableMerge` with progress on stderr.
Result<std::filesystem::path> mergeForCommand(const std::vector<std::filesystem::path>& files,
                                              const MergeArguments& words);

}  // namespace lanescope::cli
