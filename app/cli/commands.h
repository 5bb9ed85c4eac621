// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/cli/Output.h"

namespace lanescope::cli {

/// Adds `lanescope bench`, which records two programs by turns and compares them; see Command.h.
void addBench(CLI::App& app, int& exitStatus);

/// Adds `check`: whether a trace is what was recorded.
void addCheck(CLI::App& app, int& exitStatus);

/// Adds `lanescope compare`; see Command.h.
void addCompare(CLI::App& app, int& exitStatus);

/// Adds `lanescope doctor`, which says whether recording will work here and what to do if not.
void addDoctor(CLI::App& app, int& exitStatus);

/// `lanescope explain`: what is wrong with one run, and what to change first.
void addExplain(CLI::App& app, int& exitStatus);

/// Adds `lanescope export`; see Command.h.
void addExport(CLI::App& app, int& exitStatus);

/// Adds `lanescope fleet`, which becomes Python's `lanescope.fleet` with the words behind it. See
/// `Command.h`.
void addFleet(CLI::App& app, int& exitStatus);

/// `lanescope import`: files of other tools as traces of our own.
void addImport(CLI::App& app, int& exitStatus);

/// Adds `lanescope index`; see Command.h.
void addIndex(CLI::App& app, int& exitStatus);

/// Adds `lanescope info`; see Command.h.
void addInfo(CLI::App& app, int& exitStatus);

/// `lanescope merge`: several traces as one.
void addMerge(CLI::App& app, int& exitStatus);

/// Adds `lanescope record`, which runs a program under the agent and passes its exit status on.
void addRecord(CLI::App& app, int& exitStatus);

/// Puts "--" before the program in the words of a command line that begins with "record" or
/// "bench", if it is not there, so that the program's options are not taken for ours. These
/// commands are added first. Throws a `CLI::ParseError`, as the parser does, for an option that the
/// command does not have.
void separateProgram(const CLI::App& app, std::vector<std::string>& words);

/// Adds `lanescope recover`, which makes a trace of logs that were left behind.
void addRecover(CLI::App& app, int& exitStatus);

void addSql(CLI::App& app, int& exitStatus);

/// Adds `lanescope stats`; see Command.h.
void addStats(CLI::App& app, int& exitStatus);

/// Adds `lanescope summarize`. See `Command.h`.
void addSummarize(CLI::App& app, int& exitStatus);

/// Adds `lanescope view`; see Command.h.
void addView(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
