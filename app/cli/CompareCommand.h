// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope compare`; see Command.h.
void addCompare(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
