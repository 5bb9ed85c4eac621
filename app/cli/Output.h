// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/OutputFile.h"
#include "model/format/Result.h"

namespace lanescope::cli {

// How the commands of `lanescope` are made. Each is one pair of files, `XCommand.{h,cpp}`, with one
// function
//
//     void addX(CLI::App& app, int& exitStatus);
//
// that adds the subcommand with its options and help to `app` and gives it a callback. The callback
// runs the command when the command line named it and leaves the exit status of the program in
// `exitStatus`, which outlives the parse. Options live in a `std::shared_ptr` that the callback
// holds.
// Output goes to stdout; sentences about trouble go to stderr.

/// What the exit status of `lanescope` means. `record` passes on the status of its child instead.
enum ExitStatus : int {
    exitOk = 0,
    exitFailed = 1,  ///< The command could not be done; a sentence on stderr says why.
    exitUsage = 2,   ///< The command line made no sense.
};

/// Prints "lanescope: " and the sentence on stderr, on one line, as `printable` makes it: names of
/// files and of what a trace holds may be any bytes. All sentences go this way. Does nothing where
/// stderr is closed.
void say(std::string_view sentence);

/// Says the sentence; returns `exitFailed`.
int reportFailure(const Error& error);

/// Says that no memory is left, without needing any.
int sayOutOfMemory();

/// Says the sentence as a warning.
void reportWarning(std::string_view sentence);

/// One line on stderr, where that is a terminal, that says how far a command has come and is
/// written over and over; it goes with this object. Work that is done soon shows none.
class ProgressLine {
  public:
    ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    /// `fraction` in [0, 1].
    void show(double fraction, std::string_view what);

  private:
    const bool isTerminal_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool isShown_ = false;
};

/// Where a command prints: stdout, or a file that only appears under its name once it is whole. One
/// thread.
class Output {
  public:
    /// stdout if there is no `path`. Devices and pipes are written in place. Fails for a path that
    /// cannot be written, is one of `inputs` or names a database, as traces are.
    static Result<Output> open(const std::optional<std::filesystem::path>& path,
                               const std::vector<std::filesystem::path>& inputs);

    /// Text goes out only as long as `isSound` does not fail, which is asked of what was made so
    /// far: before any of it leaves, and again by `close`, which fails with its error.
    void giveOutOnly(std::function<Result<void>()> isSound) { isSound_ = std::move(isSound); }

    /// Writes; a failure shows at `close`.
    void write(std::string_view text);
    /// False once nothing more can arrive: the reader has gone, the disk is full or what is written
    /// is not sound.
    bool isWanted() const { return sound_.has_value() && file_.isWanted(); }
    /// Flushes and puts the file in its place. A reader that has gone away, as `head` does, is no
    /// failure.
    Result<void> close();

    /// Whether a person reads along, whose terminal acts upon what it is told.
    bool isTerminal() const;
    /// How many columns a line of text may have: as many as the terminal has, else as the
    /// environment variable COLUMNS says.
    size_t lineWidth() const;

  private:
    Output(OutputFile file, bool isStdout) : file_(std::move(file)), isStdout_(isStdout) {}
    void release();

    OutputFile file_;
    bool isStdout_;
    std::function<Result<void>()> isSound_;
    Result<void> sound_;  ///< Once it has failed, for good.
    std::string held_;    ///< What waits for `isSound_`.
};

}  // namespace lanescope::cli
