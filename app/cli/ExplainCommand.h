// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// `lanescope explain`: what is wrong with one run, and what to change first.
void addExplain(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
