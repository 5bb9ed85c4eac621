// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/compare/CompareSelection.h"
#include "model/format/OutputFile.h"
#include "model/format/Result.h"
#include "model/format/health.h"
#include "model/merge/mergeTraces.h"
#include "model/trace/Trace.h"

namespace lanescope::cli {

// The commands of `lanescope`. Each has a source file `XCommand.cpp` with one function
//
//     void addX(CLI::App& app, int& exitStatus);
//
// that adds the subcommand with its options and help to `app` and gives it a callback. The callback
// runs the command if it was named on the command line, and stores the exit status of the program
// in `exitStatus`, which outlives the parse. Options live in a `std::shared_ptr` owned by the
// callback. Output goes to stdout, errors and warnings to stderr.

/// The exit status of `lanescope`. `record` returns the status of its child instead.
inline constexpr int exitOk = 0;
inline constexpr int exitFailed = 1;  ///< The command failed; a sentence on stderr states the reason.
inline constexpr int exitUsage = 2;   ///< The command line was invalid.
/// In addition, of commands that answer a question.
inline constexpr int exitMet = 1, exitNoAnswer = 3;

/// Prints "lanescope: " and the sentence on stderr, on one line, escaped by `printable`: names of files and trace
/// content may contain any bytes. All messages use this function. Does nothing if stderr is closed.
void printMessage(std::string_view sentence);

/// Prints the error; returns `status`.
int reportFailure(const Error& error, int status = exitFailed);
/// Returns the exit status of a command; prints its error.
int statusOf(const Result<int>& status);
int statusOf(const Result<void>& done);

/// Reports that memory ran out, without allocating.
int reportOutOfMemory();

void reportWarning(std::string_view sentence);
/// Prints a note of a trace with its severity, as `info` lists it.
void reportNote(Severity severity, std::string_view sentence);

/// A progress line on stderr if that is a terminal, overwritten in place and removed with this
/// object. Short work shows none.
class ProgressLine {
  public:
    ProgressLine();
    ProgressLine& operator=(ProgressLine&&) = delete;
    ~ProgressLine();

    /// Shows `fraction` in [0, 1]; returns true. Pass it as a `LoadProgress` by `std::ref`.
    bool operator()(double fraction, std::string_view what);

  private:
    const bool isTerminal_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool isShown_ = false;
};

/// The output of a command: stdout, or a file that appears under its name only when complete. One thread.
class Output {
  public:
    /// Uses stdout if `path` is empty. Writes devices and pipes in place. Fails for a path that is
    /// not writable, is one of `inputs`, or names a database such as a trace.
    static Result<Output> open(const std::filesystem::path& path = {},
                               const std::vector<std::filesystem::path>& inputs = {});

    /// Emits text only while `isSound` succeeds. Called before the first text is emitted and again
    /// by `close`, which then fails with its error.
    void emitOnlyWhile(std::function<Result<void>()> isSound) { isSound_ = std::move(isSound); }

    /// Writes text; `close` reports errors.
    void write(std::string_view text);
    /// Returns false once nothing more can be written: the reader has gone, the disk is full or the source is corrupt.
    bool isWanted() const { return sound_.has_value() && file_.isWanted(); }
    /// Flushes and renames the file to its final name. A closed pipe, as with `head`, is not an error.
    Result<void> close();

    /// Returns true if the output is a terminal, which interprets control characters.
    bool isTerminal() const;
    /// Returns the line width in columns: that of the terminal, else of the environment variable COLUMNS.
    size_t lineWidth() const;

  private:
    Output(OutputFile file, bool isStdout) : file_(std::move(file)), isStdout_(isStdout) {}
    void release();

    OutputFile file_;
    bool isStdout_;
    std::function<Result<void>()> isSound_;
    Result<void> sound_;   ///< Once failed, it stays failed.
    std::string pending_;  ///< Text that waits for `isSound_`.
};

/// Writes the whole output of a command to stdout.
Result<void> printOutput(std::string_view text);

/// Calls `openTrace`, with progress on stderr if that is a terminal and the load takes long. For an
/// unfinished recording, found by its final name, loads the part that exists.
Result<TracePtr> loadForCommand(const std::filesystem::path& path);
/// Calls `ensureIndex` with the same progress.
Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path);

/// Prints the warnings and errors in the trace's health notes as warnings on stderr.
void reportTraceWarnings(const Trace& trace);

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
