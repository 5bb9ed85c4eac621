// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope index`; see Command.h.
void addIndex(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
