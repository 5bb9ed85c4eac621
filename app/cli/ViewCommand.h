// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope view`; see Command.h.
void addView(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
