// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lanescope::agent {

/// Who this process is, as names and values for the log: program, commandLine, host, bootId, rank
/// and world size as launchers announce them. Never the environment, which may hold secrets, nor
/// what looks like one on the command line, unless that is to be kept as it is.
std::vector<std::pair<std::string, std::string>> processIdentity(bool keepsCommandLine);

/// Whether this process was forked and has not become another program since.
bool isForkWithoutExec();

/// The path of the executable, and the name by which it was called.
std::string programPath();
std::string calledAs();

/// `<host>.<rank or ->.<pid>`: how the log of this process is called.
std::string logName();

}  // namespace lanescope::agent
