// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope info`; see Command.h.
void addInfo(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
