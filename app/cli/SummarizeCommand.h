// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope summarize`. See `Command.h`.
void addSummarize(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
