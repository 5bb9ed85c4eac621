// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lanescope::agent {

/// Returns names and values that identify this process in the log: program, commandLine, host,
/// bootId, rank and world size as launchers announce them. Never includes the environment, which
/// may contain secrets. Masks apparent secrets on the command line unless `keepsCommandLine`.
std::vector<std::pair<std::string, std::string>> processIdentity(bool keepsCommandLine);

/// Returns true if this process was forked and has not called exec since.
bool isForkWithoutExec();

std::string programPath();
std::string calledAs();

/// Returns the log name of this process: `<host>.<rank or ->.<pid>`.
std::string logName();

}  // namespace lanescope::agent
