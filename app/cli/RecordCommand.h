#pragma once

#include <CLI/CLI.hpp>

namespace lanescope {

/// Adds `lanescope record`, which runs a program under the agent and passes its exit status on.
void addRecord(CLI::App& app, int& exitStatus);

}  // namespace lanescope
