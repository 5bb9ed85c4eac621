// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope export`; see Command.h.
void addExport(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
