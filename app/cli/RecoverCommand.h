// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope recover`, which makes a trace of logs that were left behind.
void addRecover(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
