// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lanescope::cli {

/// Adds `lanescope record`, which runs a program under the agent and passes its exit status on.
void addRecord(CLI::App& app, int& exitStatus);

/// Puts "--" before the program in the words of a command line that begins with "record" or
/// "bench", if it is not there, so that the program's options are not taken for ours. These
/// commands are added first. Throws a `CLI::ParseError`, as the parser does, for an option that the
/// command does not have.
void separateProgram(const CLI::App& app, std::vector<std::string>& words);

}  // namespace lanescope::cli
