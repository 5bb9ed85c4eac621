// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope bench`, which records two programs by turns and compares them; see Command.h.
void addBench(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
