// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope fleet`, which becomes Python's `lanescope.fleet` with the words behind it. See
/// `Command.h`.
void addFleet(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
