// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lanescope::agent {

/// Who this process is, as names and values for the log: program, commandLine, host, bootId, rank
/// and world size as launchers announce them. Never the environment, which may hold secrets.
std::vector<std::pair<std::string, std::string>> processIdentity();

/// The path of the executable, and the name by which it was called.
std::string programPath();
std::string calledAs();

/// `<host>.<rank or ->.<pid>`: how the log of this process is called.
std::string logName();

}  // namespace lanescope::agent
