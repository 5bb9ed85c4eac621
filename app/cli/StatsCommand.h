// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope stats`; see Command.h.
void addStats(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
