// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/cli/Output.h"

namespace lanescope::cli {

/// Adds `lanescope bench`, which records two programs alternately and compares them.
void addBench(CLI::App& app, int& exitStatus);

/// Adds `lanescope bisect`, which finds the commit or version that made a program slower.
void addBisect(CLI::App& app, int& exitStatus);

/// Adds `check`, which verifies that a trace is complete and unchanged.
void addCheck(CLI::App& app, int& exitStatus);

void addCompare(CLI::App& app, int& exitStatus);

/// Adds `lanescope doctor`, which reports whether recording will work here and how to fix problems.
void addDoctor(CLI::App& app, int& exitStatus);

/// Adds `lanescope explain`: the findings of one run and the changes to make first.
void addExplain(CLI::App& app, int& exitStatus);

void addExport(CLI::App& app, int& exitStatus);

/// Adds `lanescope fleet`, which becomes Python's `lanescope.fleet` with the remaining arguments.
void addFleet(CLI::App& app, int& exitStatus);

/// Adds `lanescope import`, which converts files of other tools to native traces.
void addImport(CLI::App& app, int& exitStatus);

void addIndex(CLI::App& app, int& exitStatus);

void addInfo(CLI::App& app, int& exitStatus);

/// Adds `lanescope mcp`, which answers agents about traces on stdio.
void addMcp(CLI::App& app, int& exitStatus);

/// Adds `lanescope merge`: several traces as one.
void addMerge(CLI::App& app, int& exitStatus);

/// Adds `lanescope page`: the timeline of a trace as one HTML file.
void addPage(CLI::App& app, int& exitStatus);

/// Adds `lanescope record`, which runs a program under the agent and returns its exit status.
void addRecord(CLI::App& app, int& exitStatus);

/// Inserts a missing "--" before the program in a command line that begins with "record" or
/// "bench", so that the program's options are not parsed as ours, and a "---" after that of
/// "bisect", which has further words before its program. Add these commands first. Throws
/// a `CLI::ParseError`, like the parser, for an unknown option of the command.
void separateProgram(const CLI::App& app, std::vector<std::string>& words);

/// Adds `lanescope recover`, which builds a trace from the logs of an interrupted recording.
void addRecover(CLI::App& app, int& exitStatus);

/// Adds `lanescope serve`, which answers a viewer on another machine.
void addServe(CLI::App& app, int& exitStatus);

void addSql(CLI::App& app, int& exitStatus);

void addStats(CLI::App& app, int& exitStatus);

void addSummarize(CLI::App& app, int& exitStatus);

void addView(CLI::App& app, int& exitStatus);

/// Adds `whatif`, which forecasts the step after changes.
void addWhatIf(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
