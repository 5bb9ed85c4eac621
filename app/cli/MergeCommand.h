// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// `lanescope merge`: several traces as one.
void addMerge(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
