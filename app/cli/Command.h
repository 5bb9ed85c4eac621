// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

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

}  // namespace lanescope::cli
